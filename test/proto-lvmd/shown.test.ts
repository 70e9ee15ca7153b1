import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { LVService as CurrentLvService } from "../../gen/lvmd/current/lvmd_pb.ts";
import { startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";

const services = ["proto.LVService", "proto.VGService", ServerReflection.typeName];

/** Returns the RPCs of LVService and the fields of CreateLVRequest from server reflection. */
async function reflected(url: string): Promise<{ readonly rpcs: string[]; readonly fields: string[] }> {
  const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: url }));
  const request = {
    messageRequest: { case: "fileContainingSymbol", value: "proto.LVService" },
  } as const;
  for await (const { messageResponse } of client.serverReflectionInfo(once(request))) {
    if (messageResponse.case === "fileDescriptorResponse") {
      const file = messageResponse.value.fileDescriptorProto.map((bytes) =>
        fromBinary(FileDescriptorProtoSchema, bytes),
      );
      const registry = createFileRegistry({ $typeName: "google.protobuf.FileDescriptorSet", file });
      return {
        rpcs: registry.getService("proto.LVService")?.methods.map(({ name }) => name) ?? [],
        fields: registry.getMessage("proto.CreateLVRequest")?.fields.map(({ name }) => name) ?? [],
      };
    }
  }
  throw new Error("reflection does not know proto.LVService");
}

async function* once<T>(value: T) {
  yield value;
}

test("reflection, OpenAPI and /docs show the listener's lvmd protocol", async (t) => {
  const { gateway } = await startGatewayUnderTest(t, {
    listen: [
      { address: "127.0.0.1:0", services },
      { address: "127.0.0.1:0", services, lvmd: "current" },
    ],
  });
  const urls = gateway.addresses.map((address) => `http://${address}`);
  for (const [index, { rpcs, fields }] of [
    {
      rpcs: ["CreateLV", "RemoveLV", "ResizeLV", "CreateBackup"],
      fields: ["name", "size_gb", "tags", "device_class", "data_source"],
    },
    {
      rpcs: ["CreateLV", "RemoveLV", "ResizeLV", "CreateLVSnapshot"],
      fields: ["name", "tags", "device_class", "lvcreate_option_class", "size_bytes"],
    },
  ].entries()) {
    const url = urls[index] ?? "";
    t.same(await reflected(url), { rpcs, fields });
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      readonly paths: object;
      readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: object }>> };
    };
    const paths = Object.keys(document.paths).filter((path) => path.startsWith("/proto.LVService/"));
    t.same(new Set(paths), new Set(rpcs.map((name) => `/proto.LVService/${name}`)));
    const [schema] = Object.entries(document.components.schemas).filter(([name]) =>
      /CreateLVRequest/.test(name),
    );
    t.equal(Object.keys(schema?.[1].properties ?? {}).length, fields.length);
    const page = await (await fetch(`${url}/docs/proto.LVService`)).text();
    t.equal(page.includes("Makes a logical volume that has the content of another"), index === 1);
  }
});

test("CreateLVSnapshot needs the role operator on every listener", async (t) => {
  const { gateway } = await startGatewayUnderTest(t, {
    listen: [
      { address: "127.0.0.1:0", services },
      { address: "127.0.0.1:0", services, auth: "none", role: "viewer" },
    ],
  });
  const [operator, viewer] = gateway.addresses.map((address) =>
    createClient(CurrentLvService, createGrpcTransport({ baseUrl: `http://${address}` })),
  );
  const request = { name: "snap", sourceVolume: "sandbox-web", accessType: "ro" };
  const refused = await viewer?.createLVSnapshot(request).catch(ConnectError.from);
  t.equal((refused as ConnectError).code, Code.PermissionDenied);
  t.match(await operator?.createLVSnapshot(request), {
    snapshot: { name: "snap", path: "/dev/sandbox-vg/snap" },
  });
  const missing = await operator?.createLVSnapshot({ ...request, accessType: "" }).catch(ConnectError.from);
  t.equal((missing as ConnectError).rawMessage, "access_type: must be ro or rw");
});
