import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import type { FastifyInstance, RawServerBase } from "fastify";
import { GetLVListResponseSchema, VGService } from "../../../gen/proto/lvmd_pb.ts";
import { volumesOf } from "../../../server/domains/volumes/device-class.ts";
import { volumeMessage } from "../../../server/domains/volumes/volume-messages.ts";
import type { LoadedServer } from "../load/loaded-run.ts";
import { answerParent, cpuMs } from "../servers/bench-process.ts";
import { createVolumesUnderBench } from "./volumes-under-bench.ts";

/** Starts a server with the official plugin that returns a prepared message, and answers the benchmark's questions. */
export async function serveConnectFastify<Server extends RawServerBase>(
  app: FastifyInstance<Server>,
): Promise<void> {
  const { resolved, snapshot } = await createVolumesUnderBench().resolve("", new AbortController().signal);
  const volumes = volumesOf(resolved, snapshot.value).map(volumeMessage);
  const list = create(GetLVListResponseSchema, { volumes });
  await app.register(fastifyConnectPlugin, {
    routes: (router) => router.service(VGService, { getLVList: () => list }),
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  answerParent({ target: async () => ({ port, token: "none" }), cpuMs } satisfies LoadedServer, () =>
    app.close(),
  );
}
