import type { MethodRule } from "../../../server/rpc/call/method-rule.ts";
import { registerService } from "../../../server/rpc/call/service-handlers.ts";
import { EchoService } from "../gen/bench/v1/echo_pb.ts";
import type { LoadedServer } from "../load/loaded-run.ts";
import { answerParent, cpuMs } from "../servers/bench-process.ts";
import { startGatewayUnderBench } from "../servers/gateway-under-bench.ts";

/** A gateway with a service that only echoes. */

/** The rule of a read. */
const rule: MethodRule = {
  domain: "system",
  role: "viewer",
  mutation: false,
  get: false,
  cache: false,
  secrets: false,
  secretAnswer: false,
  ofEveryService: false,
  hostBound: false,
  repeatable: false,
};

const echo = registerService(EchoService, {
  echo: async ({ text }) => ({ text }),
  async *repeat({ text, count }) {
    for (let left = count; left > 0; left -= 1) {
      yield { text };
    }
  },
});

const gateway = await startGatewayUnderBench(
  async () => [echo],
  () => rule,
);

answerParent({ target: async () => gateway.target, cpuMs } satisfies LoadedServer, () => gateway.close());
