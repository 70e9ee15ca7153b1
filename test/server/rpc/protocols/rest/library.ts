import {
  createFileRegistry,
  createRegistry,
  type DescService,
  fromJson,
  type JsonObject,
} from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_field_mask,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";
import { file_google_api_annotations, http } from "../../../../../gen/google/api/annotations_pb.ts";
import { file_google_api_http } from "../../../../../gen/google/api/http_pb.ts";

const files = [
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_field_mask,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  file_google_api_http,
  file_google_api_annotations,
];

/** `int32 page_size = 2` as `["page_size", "int32"]`, numbered by its position; other types by their full names. */
type Field = readonly [name: string, type: string, mark?: "repeated" | "secret"];

function message(name: string, ...fields: readonly Field[]): JsonObject {
  return {
    name,
    field: fields.map(([fieldName, type, mark], index) => ({
      name: fieldName,
      number: index + 1,
      label: mark === "repeated" ? "LABEL_REPEATED" : "LABEL_OPTIONAL",
      jsonName: fieldName.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()),
      ...(mark === "secret" ? { options: { debugRedact: true } } : {}),
      ...typeOf(type),
    })),
  };
}

function typeOf(type: string): JsonObject {
  if (!type.includes(".")) {
    return { type: `TYPE_${type.toUpperCase()}` };
  }
  return { type: type === ".library.v1.Genre" ? "TYPE_ENUM" : "TYPE_MESSAGE", typeName: type };
}

function rpc(
  [name, input, output]: readonly [string, string, string],
  rule: JsonObject,
  more: JsonObject = {},
): JsonObject {
  const isRead = "get" in rule;
  return {
    name,
    inputType: `.library.v1.${input}`,
    outputType: `.library.v1.${output}`,
    options: { ...(isRead ? { idempotencyLevel: "NO_SIDE_EFFECTS" } : {}), "[google.api.http]": rule },
    ...more,
  };
}

const messages: readonly JsonObject[] = [
  message(
    "Book",
    ["name", "string"],
    ["author_name", "string"],
    ["genre", ".library.v1.Genre"],
    ["page_count", "int64"],
  ),
  message("GetBookRequest", ["name", "string"], ["pass_code", "string", "secret"]),
  message("Filter", ["author_name", "string"], ["inner", ".library.v1.Filter"]),
  {
    ...message(
      "ListBooksRequest",
      ["shelf", "string"],
      ["page_size", "int32"],
      ["since_id", "int64"],
      ["max_id", "uint64"],
      ["has_cover", "bool"],
      ["page_token", "bytes"],
      ["min_price", "double"],
      ["tags", "string", "repeated"],
      ["ids", "uint32", "repeated"],
      ["genre", ".library.v1.Genre"],
      ["genres", ".library.v1.Genre", "repeated"],
      ["filter", ".library.v1.Filter"],
      ["filters", ".library.v1.Filter", "repeated"],
      ["before", ".google.protobuf.Timestamp"],
      ["max_age", ".google.protobuf.Duration"],
      ["read_mask", ".google.protobuf.FieldMask"],
      ["title", ".google.protobuf.StringValue"],
      ["min_pages", ".google.protobuf.Int64Value"],
      ["is_lent", ".google.protobuf.BoolValue"],
      ["labels", ".library.v1.ListBooksRequest.LabelsEntry", "repeated"],
      ["pass_code", "string", "secret"],
    ),
    nestedType: [
      { ...message("LabelsEntry", ["key", "string"], ["value", "string"]), options: { mapEntry: true } },
    ],
  },
  message("ListBooksResponse", ["books", ".library.v1.Book", "repeated"], ["next_page_token", "string"]),
  message(
    "CreateBookRequest",
    ["shelf", "string"],
    ["book", ".library.v1.Book"],
    ["check_only", "bool"],
    ["edition", "int32"],
  ),
  message("UpdateBookRequest", ["book", ".library.v1.Book"], ["update_mask", ".google.protobuf.FieldMask"]),
  message("ReadFileRequest", ["path", "string"]),
  message(
    "ReadFileResponse",
    ["text", "string"],
    ["sizes", "int64", "repeated"],
    ["book", ".library.v1.Book"],
  ),
];

const book = "{name=shelves/*/books/*}";

const methods: readonly JsonObject[] = [
  rpc(["GetBook", "GetBookRequest", "Book"], {
    get: `/v1/${book}`,
    additionalBindings: [{ get: "/v1/books/{name}" }],
  }),
  rpc(["ListBooks", "ListBooksRequest", "ListBooksResponse"], { get: "/v1/{shelf=shelves/*}/books" }),
  rpc(["CreateBook", "CreateBookRequest", "Book"], { post: "/v1/{shelf=shelves/*}/books", body: "book" }),
  rpc(["UpdateBook", "UpdateBookRequest", "Book"], {
    patch: "/v1/{book.name=shelves/*/books/*}",
    body: "book",
  }),
  rpc(["ReplaceBook", "Book", "Book"], { put: `/v1/${book}`, body: "*" }),
  rpc(["LendBook", "GetBookRequest", "Book"], { post: `/v1/${book}:lend`, body: "*" }),
  rpc(["DeleteBook", "GetBookRequest", "Book"], { delete: `/v1/${book}` }),
  rpc(["ReadFile", "ReadFileRequest", "ReadFileResponse"], {
    get: "/v1/files/{path=**}",
    responseBody: "text",
  }),
  rpc(["ReadSizes", "ReadFileRequest", "ReadFileResponse"], { get: "/v1/sizes", responseBody: "sizes" }),
  rpc(["ReadCover", "ReadFileRequest", "ReadFileResponse"], { get: "/v1/cover", responseBody: "book" }),
  rpc(["WatchBooks", "ListBooksRequest", "Book"], { get: "/v1/books:watch" }, { serverStreaming: true }),
  rpc(["Purge", "GetBookRequest", "Book"], { custom: { kind: "*", path: "/v1/purge" } }),
];

/** Creates a service with a route of every kind, as a proto file would declare it. `changed` methods replace its own. */
export function createLibrary(changed: readonly JsonObject[] = methods): DescService {
  const json = {
    name: "library.proto",
    package: "library.v1",
    syntax: "proto3",
    dependency: files.map(({ proto }) => proto.name),
    enumType: [
      {
        name: "Genre",
        value: ["GENRE_UNSPECIFIED", "GENRE_NOVEL", "GENRE_ATLAS"].map((name, number) => ({ name, number })),
      },
    ],
    messageType: [...messages],
    service: [{ name: "Library", method: [...changed] }],
  };
  const proto = fromJson(FileDescriptorProtoSchema, json, { registry: createRegistry(http) });
  const registry = createFileRegistry(proto, (name) => files.find((file) => `${file.name}.proto` === name));
  const service = registry.getService("library.v1.Library");
  if (service === undefined) {
    throw new TypeError("there is no library");
  }
  return service;
}

/** Creates a library with one method that has this rule. */
export function createLibraryOf(rule: JsonObject, more: JsonObject = {}): DescService {
  return createLibrary([rpc(["GetBook", "GetBookRequest", "Book"], rule, more)]);
}
