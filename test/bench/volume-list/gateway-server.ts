import { createVgService } from "../../../server/domains/volumes/service.ts";
import type { LoadedServer } from "../load/loaded-run.ts";
import { answerParent, cpuMs } from "../servers/bench-process.ts";
import { startGatewayUnderBench } from "../servers/gateway-under-bench.ts";
import { createVolumesUnderBench } from "./volumes-under-bench.ts";

/** A gateway that lists the volumes of a sandbox. */

const gateway = await startGatewayUnderBench(async () => [createVgService(createVolumesUnderBench())]);

answerParent({ target: async () => gateway.target, cpuMs } satisfies LoadedServer, () => gateway.close());
