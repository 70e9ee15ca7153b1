import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import {
  type CallOptions,
  type Client,
  type ClientReadableStream,
  credentials,
  type GrpcObject,
  loadPackageDefinition,
  type ServiceClientConstructor,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { type Test, test } from "tap";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import { startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";

type Unary<Response> = (
  request: object,
  options: CallOptions,
  done: (error: ServiceError | null, response: Response) => void,
) => void;
type Stream<Response> = (request: object, options?: CallOptions) => ClientReadableStream<Response>;

interface Volume {
  readonly name: string;
  readonly sizeGb: string;
}
interface Watched {
  readonly freeBytes: string;
}
type LvClient = Client & { CreateLV: Unary<{ volume: Volume }> };
type VgClient = Client & { GetLVList: Unary<{ volumes: Volume[] }>; Watch: Stream<Watched> };

const protos = resolve(import.meta.dirname, "../../proto");
const definition = loadSync("proto/lvmd.proto", { includeDirs: [protos], longs: String });
const services = loadPackageDefinition(definition).proto as GrpcObject;

function connect(t: Test, target: string) {
  const lv = clientOf("LVService") as LvClient;
  const vg = clientOf("VGService") as VgClient;

  function clientOf(service: string): Client {
    const client = new (services[service] as ServiceClientConstructor)(target, credentials.createInsecure());
    t.teardown(() => client.close());
    return client;
  }

  const settle =
    <Response>(resolve: (response: Response) => void, reject: (error: ServiceError) => void) =>
    (error: ServiceError | null, response: Response) =>
      error === null ? resolve(response) : reject(error);
  return {
    create: (request: object) =>
      new Promise<{ volume: Volume }>((resolve, reject) => lv.CreateLV(request, {}, settle(resolve, reject))),
    list: (options: CallOptions = {}) =>
      new Promise<{ volumes: Volume[] }>((resolve, reject) =>
        vg.GetLVList({}, options, settle(resolve, reject)),
      ),
    watch: (options?: CallOptions) => vg.Watch({}, options),
  };
}

async function startGateway(t: Test) {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const socket = `unix:${join(directory, "socket")}`;
  const { gateway, log } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0" }, { address: socket }],
  });
  return { targets: gateway.addresses, log };
}

test("grpc-js calls and watches over TCP and over a unix socket", async (t) => {
  const { targets } = await startGateway(t);
  for (const [index, target] of targets.entries()) {
    const client = connect(t, target);
    const watch = client.watch();
    const messages = watch.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Watched>;
    const first: Watched = (await messages.next()).value;
    const name = `grpc-js-${index}`;
    t.match(await client.create({ name, sizeGb: 1 }), { volume: { name, sizeGb: "1" } });
    // A message may arrive without a change; the gateway only promises one after each change.
    let changed = first;
    while (changed.freeBytes === first.freeBytes) {
      changed = (await messages.next()).value;
    }
    t.equal(Number(first.freeBytes) - Number(changed.freeBytes), 2 ** 30);
    watch.on("error", () => {});
    watch.cancel();
    t.match((await client.list()).volumes.at(-1), { name, sizeGb: "1" });
  }
});

test("grpc-js gets the code and the details of an error", async (t) => {
  const { targets } = await startGateway(t);
  const { create } = connect(t, targets[0] ?? "");
  const error = (await create({ name: "a", sizeGb: 0 }).catch((error) => error)) as ServiceError;
  t.equal(error.code, status.INVALID_ARGUMENT);
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const { code, message, details } = fromBinary(StatusSchema, bytes as Buffer);
  t.equal(code, status.INVALID_ARGUMENT);
  t.equal(message, "size_gb: must be at least 1");
  const [info, request] = details;
  t.match(info && anyUnpack(info, ErrorInfoSchema), { reason: "INVALID_FIELD", domain: "hostplane" });
  t.match(request && anyUnpack(request, BadRequestSchema), { fieldViolations: [{ field: "size_gb" }] });
});

test("grpc-js shows the message of an error unchanged", async (t) => {
  const { targets } = await startGateway(t);
  const { create } = connect(t, targets[0] ?? "");
  const deviceClass = "größe: 100% / %2F";
  const error = (await create({ name: "a", sizeGb: 1, deviceClass }).catch((error) => error)) as ServiceError;
  t.match(error.details, deviceClass);
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  t.equal(error.details, fromBinary(StatusSchema, bytes as Buffer).message);
});

test("grpc-js ends a stream with its deadline or by cancelling it", async (t) => {
  const { targets, log } = await startGateway(t);
  const client = connect(t, targets[0] ?? "");
  async function endOf(watch: ClientReadableStream<Watched>, onMessage = () => {}): Promise<number> {
    return new Promise((resolve) => {
      watch.on("data", onMessage);
      watch.on("error", (error: ServiceError) => resolve(error.code));
    });
  }
  let messages = 0;
  const deadline = Date.now() + 3000;
  t.equal(await endOf(client.watch({ deadline }), () => messages++), status.DEADLINE_EXCEEDED);
  t.ok(messages > 0);
  const cancelled = client.watch();
  t.equal(await endOf(cancelled, () => cancelled.cancel()), status.CANCELLED);
  // This call follows the cancellation on the same connection, so the gateway has processed the cancellation.
  await client.list();
  const ends = log.filter(({ rpc }) => rpc === "proto.VGService/Watch").map(({ code }) => code);
  t.match(ends, [/DEADLINE_EXCEEDED|CANCELLED/, "CANCELLED"]);
});

test("grpc-js gets DEADLINE_EXCEEDED after its deadline", async (t) => {
  const { targets } = await startGateway(t);
  const { list } = connect(t, targets[0] ?? "");
  await t.rejects(list({ deadline: Date.now() - 1 }), { code: status.DEADLINE_EXCEEDED });
});
