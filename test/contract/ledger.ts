import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  hasOption,
  ScalarType,
} from "@bufbuild/protobuf";
import {
  FeatureSet_FieldPresence as FieldPresence,
  MethodOptions_IdempotencyLevel as Idempotency,
} from "@bufbuild/protobuf/wkt";
import { http } from "../../gen/google/api/annotations_pb.ts";

export const root = resolve(import.meta.dirname, "../..");

/** Reads the facts of a ledger (published.txt, added.txt), one per line, without comments and empty lines. */
export function readLedger(name: string): string[] {
  return readFileSync(join(import.meta.dirname, name), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** Returns the absolute paths of all generated files. */
export function generatedPaths(): string[] {
  return readdirSync(join(root, "gen"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(root, "gen", name));
}

/** Folder of the generated lvmd protocols, which use the same package and names as proto/proto/lvmd.proto. */
const lvmdFolder = join(root, "gen/lvmd/");

/** Returns the descriptors of the contract's generated files. */
export async function generatedFiles(): Promise<DescFile[]> {
  const paths = generatedPaths().filter((path) => !path.startsWith(lvmdFolder));
  const modules = await Promise.all(
    paths.map((path) => import(pathToFileURL(path).href) as Promise<Record<string, unknown>>),
  );
  return modules.flatMap((module) => Object.values(module).filter(isDescFile));
}

function isDescFile(value: unknown): value is DescFile {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}

/** Returns the contents of a file as facts, in the form of the ledgers. */
export function factsOfFile(file: DescFile): string[] {
  return [
    ...file.messages.flatMap(factsOfMessage),
    ...file.enums.flatMap((it) =>
      it.values.map((value) => `enum ${it.typeName} ${value.number} ${value.name}`),
    ),
    ...file.services.flatMap(factsOfService),
    ...file.extensions.map((it) => `extension ${it.typeName} ${it.number}`),
  ];
}

function factsOfMessage(message: DescMessage): string[] {
  return [
    `message ${message.typeName}`,
    ...message.fields.map(factOfField),
    ...message.nestedMessages.flatMap(factsOfMessage),
    ...message.nestedEnums.flatMap((it) =>
      it.values.map((value) => `enum ${it.typeName} ${value.number} ${value.name}`),
    ),
    ...message.nestedExtensions.map((it) => `extension ${it.typeName} ${it.number}`),
  ];
}

function factOfField(field: DescField): string {
  const label = field.fieldKind === "list" ? "repeated " : isOptional(field) ? "optional " : "";
  const oneof = field.oneof === undefined ? "" : ` in oneof ${field.oneof.name}`;
  const name = `${field.parent.typeName} ${field.number} ${field.name}`;
  return `field ${name} ${label}${typeOfField(field)}${oneof} as ${field.jsonName}`;
}

/** Reports whether the field is a scalar or enum declared `optional`, so that zero differs from unset. */
function isOptional(field: DescField): boolean {
  const isPlain = field.fieldKind === "scalar" || field.fieldKind === "enum";
  return isPlain && field.oneof === undefined && field.presence !== FieldPresence.IMPLICIT;
}

function typeOfField(field: DescField): string {
  if (field.fieldKind === "map") {
    return "map";
  }
  if (field.message !== undefined) {
    return field.message.typeName;
  }
  if (field.enum !== undefined) {
    return field.enum.typeName;
  }
  return (ScalarType[field.scalar] ?? "unknown").toLowerCase();
}

function factsOfService(service: DescService): string[] {
  return service.methods.flatMap((method) => {
    const path = `${service.typeName}/${method.name}`;
    return [
      `rpc ${path} ${signatureOf(method)}`,
      ...(method.idempotency === Idempotency.NO_SIDE_EFFECTS ? [`read ${path}`] : []),
      ...(method.idempotency === Idempotency.IDEMPOTENT ? [`idempotent ${path}`] : []),
      ...(hasOption(method, http) ? [`http ${path} ${routeOf(method)}`] : []),
    ];
  });
}

function signatureOf(method: DescMethod): string {
  const streamsIn = method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming";
  const streamsOut = method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming";
  const request = `${streamsIn ? "stream " : ""}${method.input.typeName}`;
  return `${request} -> ${streamsOut ? "stream " : ""}${method.output.typeName}`;
}

function routeOf(method: DescMethod): string {
  const { pattern, body, additionalBindings } = getOption(method, http);
  const path = typeof pattern.value === "string" ? pattern.value : "custom";
  const more = additionalBindings.length === 0 ? "" : " and more";
  return `${pattern.case?.toUpperCase()} ${path}${body === "" ? "" : ` body ${body}`}${more}`;
}
