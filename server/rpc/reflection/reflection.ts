import {
  createRegistry,
  type DescFile,
  type DescService,
  type MessageInitShape,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../../../gen/google/rpc/error_details_pb.ts";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import type { Call, LvmdProtocol } from "../call/call.ts";
import { registerService, type ServiceRegistration } from "../call/service-handlers.ts";

/** The reflection services themselves. */
export const reflectionServices: readonly DescService[] = [ServerReflection, ServerReflectionV1alpha];

type Response = MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"];

/**
 * Creates grpc.reflection.v1 and v1alpha, which have the same messages under two names. grpcurl, `buf curl` and others use them
 * to read the contract without proto files, and to decode the details of errors.
 * @param services services to list in addition to reflection, by the lvmd protocol of the listener; everything that their
 * files import is served too
 */
export function createReflectionServices(
  services: Readonly<Record<LvmdProtocol, readonly DescService[]>>,
): ServiceRegistration[] {
  const encodedOf = createEncodedFiles();
  const answers = { backups: contractOf(services.backups), current: contractOf(services.current) };

  async function* answer(requests: AsyncIterable<ServerReflectionRequest>, { peer }: Call) {
    for await (const request of requests) {
      yield {
        validHost: request.host,
        originalRequest: request,
        messageResponse: responseTo(request.messageRequest, answers[peer.lvmd], encodedOf),
      };
    }
  }

  return [
    registerService(ServerReflection, { serverReflectionInfo: answer }),
    registerService(ServerReflectionV1alpha, { serverReflectionInfo: answer as never }),
  ];
}

/** The contract that reflection serves. */
interface ReflectedContract {
  readonly files: readonly DescFile[];
  readonly registry: Registry;
  readonly serviceNames: readonly string[];
}

function contractOf(services: readonly DescService[]): ReflectedContract {
  const listed = [...services, ...reflectionServices];
  const roots = [...listed.map(({ file }) => file), file_google_rpc_error_details];
  const files = [...new Set(roots.flatMap(withImports))];
  return { files, registry: createRegistry(...files), serviceNames: listed.map(({ typeName }) => typeName) };
}

function responseTo(
  request: ServerReflectionRequest["messageRequest"],
  { files, registry, serviceNames }: ReflectedContract,
  encodedOf: (file: DescFile) => Uint8Array[],
): NonNullable<Response> {
  const filesOrNotFound = (file: DescFile | undefined, name: string): NonNullable<Response> =>
    file === undefined
      ? notFound(name)
      : { case: "fileDescriptorResponse", value: { fileDescriptorProto: encodedOf(file) } };
  switch (request.case) {
    case "listServices":
      return {
        case: "listServicesResponse",
        value: { service: serviceNames.map((name) => ({ name })) },
      };
    case "fileByFilename":
      return filesOrNotFound(
        files.find(({ proto }) => proto.name === request.value),
        request.value,
      );
    case "fileContainingSymbol":
      return filesOrNotFound(fileOfSymbol(registry, request.value), request.value);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = request.value;
      const extendee = registry.getMessage(containingType);
      const extension = extendee && registry.getExtensionFor(extendee, extensionNumber);
      return filesOrNotFound(extension?.file, `${containingType}.${extensionNumber}`);
    }
    case "allExtensionNumbersOfType": {
      const extendee = registry.getMessage(request.value);
      if (extendee === undefined) {
        return notFound(request.value);
      }
      const extensions = [...registry].filter(
        (desc) => desc.kind === "extension" && desc.extendee.typeName === extendee.typeName,
      );
      const extensionNumber = extensions.flatMap((desc) => (desc.kind === "extension" ? [desc.number] : []));
      return {
        case: "allExtensionNumbersResponse",
        value: { baseTypeName: request.value, extensionNumber },
      };
    }
    default:
      return error(Code.InvalidArgument, "the request is empty");
  }
}

/** Finds the file that declares a message, enum, service or extension, or a member of one. */
function fileOfSymbol(registry: Registry, symbol: string): DescFile | undefined {
  const parent = symbol.slice(0, Math.max(symbol.lastIndexOf("."), 0));
  const named = registry.get(symbol);
  if (named !== undefined) {
    return named.file;
  }
  const owner = registry.get(parent);
  const member = symbol.slice(parent.length + 1);
  const hasMember =
    (owner?.kind === "service" && owner.methods.some(({ name }) => name === member)) ||
    (owner?.kind === "message" && owner.fields.some(({ name }) => name === member)) ||
    (owner?.kind === "enum" && owner.values.some(({ name }) => name === member));
  return hasMember ? owner?.file : undefined;
}

/** Encodes a file and all its imports, so that a client need not request them one by one; each is encoded once. */
function createEncodedFiles(): (file: DescFile) => Uint8Array[] {
  const encoded = new Map<DescFile, Uint8Array>();
  return (file) =>
    withImports(file).map((one) => {
      const bytes = encoded.get(one) ?? toBinary(FileDescriptorProtoSchema, one.proto);
      encoded.set(one, bytes);
      return bytes;
    });
}

function withImports(file: DescFile): DescFile[] {
  return [...new Set([file, ...file.dependencies.flatMap(withImports)])];
}

function notFound(name: string): NonNullable<Response> {
  return error(Code.NotFound, `not found: ${name}`);
}

function error(code: Code, errorMessage: string): NonNullable<Response> {
  return { case: "errorResponse", value: { errorCode: code, errorMessage } };
}
