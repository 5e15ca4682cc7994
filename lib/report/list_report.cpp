#include "report/list_report.h"

namespace cachetool::report {

void write_list(OutputSink& sink, const ListReport& report, Format format, const Look& look) {
  switch (format) {
    case Format::kHuman:
      return write_list_table(sink, report, look);
    case Format::kJson:
      return write_list_json(sink, report);
    case Format::kJsonLines:
      return write_list_json_lines(sink, report);
    case Format::kCsv:
      return write_list_csv(sink, report);
  }
}

}  // namespace cachetool::report
