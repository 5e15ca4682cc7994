#pragma once

#include "base/json_writer.h"
#include "base/output.h"
#include "report/format.h"
#include "verify/doctor/doctor.h"

namespace cachetool::report {

/// "good", "reservations" (warnings), "unsuitable" (errors).
std::string_view verdict_name(const verify::DoctorReport& report);

/// Writes sections for a person (verdict, findings, facts), or a cachetool.doctor/1 document (on one line as
/// JSON lines).
void write_doctor(OutputSink& sink, const verify::DoctorReport& report, Format format, const Look& look);

// The formats, as write_doctor chooses them.
void write_doctor_text(OutputSink& sink, const verify::DoctorReport& report, const Look& look);
void write_doctor_json(OutputSink& sink, const verify::DoctorReport& report, JsonStyle style);

}  // namespace cachetool::report
