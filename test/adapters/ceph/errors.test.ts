import { test } from "tap";
import { outputOf } from "../../../adapters/ceph/errors.ts";
import type { RadosAnswer } from "../../../adapters/ceph/worker-protocol.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";

const as = { confPath: "/etc/ceph/other.conf", user: "client.test", timeoutMs: 1_000 };

function errorOf(answer: RadosAnswer): InfraError {
  try {
    outputOf(answer, "status", as);
  } catch (error) {
    if (error instanceof InfraError) {
      return error;
    }
  }
  throw new Error("no InfraError");
}

test("a successful reply gives its output", async (t) => {
  t.equal(outputOf({ code: 0, output: "{}", words: "" }, "status", as), "{}");
});

test("each failure has its reason, and names the user or file involved", async (t) => {
  const failed = (code: number, words = "") => errorOf({ code, output: "", words });
  t.match(failed(-13, "access denied"), { reason: "CEPH_DENIED", message: /client\.test.*access denied/ });
  t.match(failed(-110), { reason: "CEPH_UNAVAILABLE" });
  t.match(failed(-22, "crash info: x not found"), {
    reason: "CEPH_FAILED",
    message: /crash info: x not found/,
  });
  t.match(failed(-75), { reason: "CEPH_FAILED", message: /error 75/ });
  t.match(errorOf({ unloadable: "no such file" }), {
    reason: "TOOL_MISSING",
    message: /librados.*no such file/,
  });

  const refused = (call: string, code: number) => errorOf({ call, code });
  t.match(refused("rados_conf_read_file", -2), { reason: "CEPH_UNAVAILABLE", message: /other\.conf/ });
  t.match(refused("rados_connect", -2), { reason: "CEPH_DENIED", message: /client\.test/ });
  t.match(refused("rados_connect", -13), { reason: "CEPH_DENIED", message: /client\.test/ });
  t.match(refused("rados_connect", -110), { reason: "CEPH_UNAVAILABLE", message: /other\.conf/ });
});
