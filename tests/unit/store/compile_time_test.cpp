#include "store/compile_time.h"

#include <doctest/doctest.h>

using namespace cachetool;
using namespace cachetool::store;

namespace {

torch::HashName name(char prefix, char fill) {
  return *torch::HashName::parse(prefix + std::string(50, fill) + "a");
}

EntryRow graph(char fill, std::int64_t time) {
  EntryRow row;
  row.summary.kind = torch::EntryKind::kFxGraph;
  row.summary.key = name('f', fill);
  row.summary.time_taken_ns = time;
  return row;
}

EntryRow entry(char fill, std::int64_t forward, std::int64_t backward, char forward_graph,
               char backward_graph) {
  EntryRow row;
  row.summary.kind = torch::EntryKind::kAotAutograd;
  row.summary.key = name('a', fill);
  row.summary.forward_time_ns = forward;
  row.summary.backward_time_ns = backward;
  if (forward_graph != 0) row.summary.forward_graph = name('f', forward_graph);
  if (backward_graph != 0) row.summary.backward_graph = name('f', backward_graph);
  return row;
}

std::int64_t total(const std::vector<EntryRow>& rows) {
  std::int64_t sum = 0;
  for (const EntryRow& row : rows) {
    if (row.claimed_by == EntryRow::kUnclaimed && row.compile_time_ns > 0) sum += row.compile_time_ns;
  }
  return sum;
}

}  // namespace

TEST_CASE("an entry's time contains its graphs'") {
  std::vector<EntryRow> rows{graph('b', 10), graph('c', 20), graph('d', 5), entry('b', 15, 25, 'b', 'c')};
  attribute_compile_time(rows);
  CHECK(rows[3].compile_time_ns == 40);
  CHECK(rows[0].compile_time_ns == 10);
  CHECK(rows[0].claimed_by == 3);
  CHECK(rows[1].claimed_by == 3);
  CHECK(rows[2].claimed_by == EntryRow::kUnclaimed);
  CHECK(total(rows) == 45);
}

TEST_CASE("where a hit made the entry's time short, the graphs' own counts") {
  std::vector<EntryRow> rows{graph('b', 100), entry('b', 1, -1, 'b', 0)};
  attribute_compile_time(rows);
  CHECK(rows[1].compile_time_ns == 100);
  CHECK(total(rows) == 100);
}

TEST_CASE("a graph that two entries name counts once") {
  std::vector<EntryRow> rows{graph('b', 100), entry('b', 120, -1, 'b', 0), entry('c', 3, -1, 'b', 0)};
  attribute_compile_time(rows);
  CHECK(rows[1].compile_time_ns == 120);
  CHECK(rows[2].compile_time_ns == 3);
  CHECK(total(rows) == 123);
}

TEST_CASE("candidates of one key go to one entry each") {
  std::vector<EntryRow> rows{graph('b', 10), graph('b', 20), entry('b', 0, -1, 'b', 0),
                             entry('b', 0, -1, 'b', 0)};
  attribute_compile_time(rows);
  CHECK(total(rows) == 30);
}

TEST_CASE("what isn't known stays unknown") {
  std::vector<EntryRow> rows{graph('b', -1), entry('b', -1, -1, 'c', 0)};
  attribute_compile_time(rows);
  CHECK(rows[0].compile_time_ns == -1);
  CHECK(rows[1].compile_time_ns == -1);
}
