// Writes certificates as `posbench check --json` prints them.
#pragma once
#include "harness/check/certify.h"
#include "harness/check/task_certificate.h"
#include "results/json/json.h"

namespace posbench {

Json to_json(const EncodingCertificate&);
Json to_json(const TaskCertificate&);
Json to_json(const ModelsCertificate&);

}  // namespace posbench
