import { once } from "node:events";
import { join } from "node:path";
import {
  type GrpcObject,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceClientConstructor,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { LoadedServer } from "../load/loaded-run.ts";
import { answerParent, cpuMs } from "../servers/bench-process.ts";

/** grpc-js with its defaults: messages from proto-loader, and no interceptors. */

interface Echo {
  readonly text: string;
}
interface Repeat extends Echo {
  readonly count: number;
}

const definition = loadSync("bench/v1/echo.proto", { includeDirs: [join(import.meta.dirname, "../proto")] });
const { v1 } = loadPackageDefinition(definition).bench as { readonly v1: GrpcObject };
const { service } = v1.EchoService as ServiceClientConstructor;

const server = new Server();
server.addService(service, {
  Echo({ request }: ServerUnaryCall<Echo, Echo>, answer: sendUnaryData<Echo>) {
    answer(null, { text: request.text });
  },
  async Repeat(call: ServerWritableStream<Repeat, Echo>) {
    const { text, count } = call.request;
    for (let left = count; left > 0; left -= 1) {
      if (!call.write({ text })) {
        await once(call, "drain");
      }
    }
    call.end();
  },
});
const bound = Promise.withResolvers<number>();
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
  error === null ? bound.resolve(port) : bound.reject(error),
);
const port = await bound.promise;

answerParent({ target: async () => ({ port, token: "none" }), cpuMs } satisfies LoadedServer, () =>
  server.forceShutdown(),
);
