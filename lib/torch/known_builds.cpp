#include "torch/known_builds.h"

#include "torch/key.h"

namespace cachetool::torch {

namespace {

constexpr KnownBuild kKnownBuilds[] = {
    {"2.4.1+cu121", "803ec2b3d0d216a05a75054da1fb277cf5d7ce4899cf1ad633354516fff4b6fe",
     "hu3xatn2jgo2frrhvr3wnw6chzxq3vp5l24vd4vtmrdxhthzrhi"},
    {"2.5.1+cu124", "7452ca55216aa3a89e54b349f832ce7d78e2e8ca2c438039e5f10d30d397c707",
     "7ih4yspati7x76ohkpbilp65hcuywqlire6kbucient7rroixpe"},
    {"2.6.0+cu124", "19ec5c2458c0b82917218af69950f8e052677af6d63556f29358869b5953aa22",
     "e4csuknr6okoozhe7prbuyyq7dyp4zzgvd4hs4r4njzlfdnydz3"},
    {"2.7.1+cu126", "ce326a83574b9f08845cf1739711002efc72c0f29d9af8792c811d4742414d70",
     "2tksjbjk7hpavdpbcw5um3vw5op4jmlc6uemuhejpatd2kcxt2v"},
    {"2.8.0+cu128", "d3b23fc8210f86a68cc10f1442fc63ce4580a2234591c7f2d5f7250c488797c9",
     "vmm2l6qimmfbmohbyxeatrgnblyww6xq37jaojcr2oag4337v6w"},
    {"2.9.1+cu128", "70b0941789ab4fe2d391df038132ee382a9ba299ce17e79176b07c923c8bb107",
     "kztrdvhavmey3zbjyg7f3tjtdfe7qlwapjqo5r6gsouvsebkewk"},
    {"2.10.0+cu128", "e0acd64603cf7fef42357be317e3b42e6d622d8a97a1cd3240b50b4152c26f5c",
     "giuabaskoah6ndf2ygr2mddsch2pqoqds6zvwg6z7dcyx63kvmv"},
    {"2.11.0+cu130", "5615ced183fc107f6ea805e7641952126fba20d46532b3f4bfd9586b51ce8d4d",
     "42kqpcnudx73pxuxawjmiw4a4olr7bhp5dsep6jbz22wdjbfsoh"},
    {"2.12.0+cu130", "157a5aa40da4ed8cfbe1a9641c7f31ba33547111fd76ceb6b955ba1fd69a0f0e",
     "hew44tpayhsq7uivdfpa25ya6zmlaobzbe5z7lp5axojslpfugf"},
    {"2.13.0+cu130", "713a34dd1512a9f99c602814cb2d8c5233c21895e6e888065a2586c3ffee2678",
     "s6dby64y5s3gkzey35kajhdl7ofluzyvycfjbmwpqallqc7xyfk"},
    {"2.14.0+cu130", "3d5bd302af4315fb397c10c0a09ba7db415ec3d8c3637338b89153a8aaef43f2",
     "q5rsouop577whoakcxmvolvimkx3ksz5pkykwepzurdoxz2jjcf"},
    {"2.15.0+cu132", "b0d2d48093a2191c1f154a7d8ef867ef62747c218663e5d49bc2368ffc8ce86d",
     "wuvirvlgautipm4ayfgfwck4ma2gtvqthssz6fuhrdvdwnvo24d"},
};

}  // namespace

std::span<const KnownBuild> known_builds() {
  return kKnownBuilds;
}

std::string_view release_of_identity(std::string_view component_hash) {
  if (component_hash.empty()) return {};
  for (const KnownBuild& build : kKnownBuilds) {
    if (build.identity == component_hash) return build.version;
  }
  return {};
}

std::string identity_of_torch_key(std::string_view torch_key) {
  // PROTO 4, FRAME of 35 bytes, SHORT_BINBYTES of 32, STOP.
  constexpr std::string_view kHead("\x80\x04\x95\x23\0\0\0\0\0\0\0\x43\x20", 13);
  std::string pickled(kHead);
  pickled += torch_key;
  pickled += '.';
  return content_hash(pickled).str();
}

}  // namespace cachetool::torch
