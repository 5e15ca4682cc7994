#include "verify/vllm_checks.h"

namespace cachetool::verify {

CheckGroup vllm_checks() {
  return {"vLLM", {}};
}

}  // namespace cachetool::verify
