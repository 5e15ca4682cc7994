#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace cachetool::pickle {

/// The opcodes of pickle protocols 0 to 5, in the order of their codes (CPython's Lib/pickletools.py
/// documents each).
enum class Opcode : std::uint8_t {
  kMark = 0x28,
  kEmptyTuple = 0x29,
  kStop = 0x2e,
  kPop = 0x30,
  kPopMark = 0x31,
  kDup = 0x32,
  kBinbytes = 0x42,
  kShortBinbytes = 0x43,
  kFloat = 0x46,
  kBinfloat = 0x47,
  kInt = 0x49,
  kBinint = 0x4a,
  kBinint1 = 0x4b,
  kLong = 0x4c,
  kBinint2 = 0x4d,
  kNone = 0x4e,
  kPersid = 0x50,
  kBinpersid = 0x51,
  kReduce = 0x52,
  kString = 0x53,
  kBinstring = 0x54,
  kShortBinstring = 0x55,
  kUnicode = 0x56,
  kBinunicode = 0x58,
  kEmptyList = 0x5d,
  kAppend = 0x61,
  kBuild = 0x62,
  kGlobal = 0x63,
  kDict = 0x64,
  kAppends = 0x65,
  kGet = 0x67,
  kBinget = 0x68,
  kInst = 0x69,
  kLongBinget = 0x6a,
  kList = 0x6c,
  kObj = 0x6f,
  kPut = 0x70,
  kBinput = 0x71,
  kLongBinput = 0x72,
  kSetitem = 0x73,
  kTuple = 0x74,
  kSetitems = 0x75,
  kEmptyDict = 0x7d,
  kProto = 0x80,
  kNewobj = 0x81,
  kExt1 = 0x82,
  kExt2 = 0x83,
  kExt4 = 0x84,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewtrue = 0x88,
  kNewfalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinunicode = 0x8c,
  kBinunicode8 = 0x8d,
  kBinbytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAdditems = 0x90,
  kFrozenset = 0x91,
  kNewobjEx = 0x92,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
  kBytearray8 = 0x96,
  kNextBuffer = 0x97,
  kReadonlyBuffer = 0x98,
};

struct OpcodeInfo {
  Opcode code;
  std::uint8_t protocol;  ///< the first protocol whose pickler writes it
  std::string_view name;  ///< CPython's name
};

inline constexpr std::array kOpcodes = {
    OpcodeInfo{Opcode::kMark, 0, "MARK"},
    OpcodeInfo{Opcode::kEmptyTuple, 1, "EMPTY_TUPLE"},
    OpcodeInfo{Opcode::kStop, 0, "STOP"},
    OpcodeInfo{Opcode::kPop, 0, "POP"},
    OpcodeInfo{Opcode::kPopMark, 1, "POP_MARK"},
    OpcodeInfo{Opcode::kDup, 0, "DUP"},
    OpcodeInfo{Opcode::kBinbytes, 3, "BINBYTES"},
    OpcodeInfo{Opcode::kShortBinbytes, 3, "SHORT_BINBYTES"},
    OpcodeInfo{Opcode::kFloat, 0, "FLOAT"},
    OpcodeInfo{Opcode::kBinfloat, 1, "BINFLOAT"},
    OpcodeInfo{Opcode::kInt, 0, "INT"},
    OpcodeInfo{Opcode::kBinint, 1, "BININT"},
    OpcodeInfo{Opcode::kBinint1, 1, "BININT1"},
    OpcodeInfo{Opcode::kLong, 0, "LONG"},
    OpcodeInfo{Opcode::kBinint2, 1, "BININT2"},
    OpcodeInfo{Opcode::kNone, 0, "NONE"},
    OpcodeInfo{Opcode::kPersid, 0, "PERSID"},
    OpcodeInfo{Opcode::kBinpersid, 1, "BINPERSID"},
    OpcodeInfo{Opcode::kReduce, 0, "REDUCE"},
    OpcodeInfo{Opcode::kString, 0, "STRING"},
    OpcodeInfo{Opcode::kBinstring, 1, "BINSTRING"},
    OpcodeInfo{Opcode::kShortBinstring, 1, "SHORT_BINSTRING"},
    OpcodeInfo{Opcode::kUnicode, 0, "UNICODE"},
    OpcodeInfo{Opcode::kBinunicode, 1, "BINUNICODE"},
    OpcodeInfo{Opcode::kEmptyList, 1, "EMPTY_LIST"},
    OpcodeInfo{Opcode::kAppend, 0, "APPEND"},
    OpcodeInfo{Opcode::kBuild, 0, "BUILD"},
    OpcodeInfo{Opcode::kGlobal, 0, "GLOBAL"},
    OpcodeInfo{Opcode::kDict, 0, "DICT"},
    OpcodeInfo{Opcode::kAppends, 1, "APPENDS"},
    OpcodeInfo{Opcode::kGet, 0, "GET"},
    OpcodeInfo{Opcode::kBinget, 1, "BINGET"},
    OpcodeInfo{Opcode::kInst, 0, "INST"},
    OpcodeInfo{Opcode::kLongBinget, 1, "LONG_BINGET"},
    OpcodeInfo{Opcode::kList, 0, "LIST"},
    OpcodeInfo{Opcode::kObj, 1, "OBJ"},
    OpcodeInfo{Opcode::kPut, 0, "PUT"},
    OpcodeInfo{Opcode::kBinput, 1, "BINPUT"},
    OpcodeInfo{Opcode::kLongBinput, 1, "LONG_BINPUT"},
    OpcodeInfo{Opcode::kSetitem, 0, "SETITEM"},
    OpcodeInfo{Opcode::kTuple, 0, "TUPLE"},
    OpcodeInfo{Opcode::kSetitems, 1, "SETITEMS"},
    OpcodeInfo{Opcode::kEmptyDict, 1, "EMPTY_DICT"},
    OpcodeInfo{Opcode::kProto, 2, "PROTO"},
    OpcodeInfo{Opcode::kNewobj, 2, "NEWOBJ"},
    OpcodeInfo{Opcode::kExt1, 2, "EXT1"},
    OpcodeInfo{Opcode::kExt2, 2, "EXT2"},
    OpcodeInfo{Opcode::kExt4, 2, "EXT4"},
    OpcodeInfo{Opcode::kTuple1, 2, "TUPLE1"},
    OpcodeInfo{Opcode::kTuple2, 2, "TUPLE2"},
    OpcodeInfo{Opcode::kTuple3, 2, "TUPLE3"},
    OpcodeInfo{Opcode::kNewtrue, 2, "NEWTRUE"},
    OpcodeInfo{Opcode::kNewfalse, 2, "NEWFALSE"},
    OpcodeInfo{Opcode::kLong1, 2, "LONG1"},
    OpcodeInfo{Opcode::kLong4, 2, "LONG4"},
    OpcodeInfo{Opcode::kShortBinunicode, 4, "SHORT_BINUNICODE"},
    OpcodeInfo{Opcode::kBinunicode8, 4, "BINUNICODE8"},
    OpcodeInfo{Opcode::kBinbytes8, 4, "BINBYTES8"},
    OpcodeInfo{Opcode::kEmptySet, 4, "EMPTY_SET"},
    OpcodeInfo{Opcode::kAdditems, 4, "ADDITEMS"},
    OpcodeInfo{Opcode::kFrozenset, 4, "FROZENSET"},
    OpcodeInfo{Opcode::kNewobjEx, 4, "NEWOBJ_EX"},
    OpcodeInfo{Opcode::kStackGlobal, 4, "STACK_GLOBAL"},
    OpcodeInfo{Opcode::kMemoize, 4, "MEMOIZE"},
    OpcodeInfo{Opcode::kFrame, 4, "FRAME"},
    OpcodeInfo{Opcode::kBytearray8, 5, "BYTEARRAY8"},
    OpcodeInfo{Opcode::kNextBuffer, 5, "NEXT_BUFFER"},
    OpcodeInfo{Opcode::kReadonlyBuffer, 5, "READONLY_BUFFER"},
};

/// The protocol that each byte, taken as an opcode, belongs to; 0 for bytes that are none.
inline constexpr std::array<std::uint8_t, 256> kOpcodeProtocol = [] {
  std::array<std::uint8_t, 256> protocols{};
  for (const OpcodeInfo& info : kOpcodes) protocols[static_cast<std::uint8_t>(info.code)] = info.protocol;
  return protocols;
}();

/// CPython's name of an opcode; empty when `code` is none.
constexpr std::string_view opcode_name(std::uint8_t code) {
  for (const OpcodeInfo& info : kOpcodes) {
    if (static_cast<std::uint8_t>(info.code) == code) return info.name;
  }
  return {};
}

}  // namespace cachetool::pickle
