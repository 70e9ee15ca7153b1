import { readFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import {
  type DescEnum,
  type DescEnumValue,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescOneof,
  type DescService,
  fromBinary,
} from "@bufbuild/protobuf";
import { type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { LvmdProtocol } from "../call/call.ts";
import { pathNames } from "./path-names.ts";

/** Elements of the contract that can have a comment. */
export type Commented =
  | DescService
  | DescMethod
  | DescMessage
  | DescField
  | DescOneof
  | DescEnum
  | DescEnumValue;

/** Returns the comment above an element of the contract; empty if it has none. */
export type CommentOf = (desc: Commented) => string;

/** Files with comments, relative to the package. Later files take precedence. */
const commentFiles: Readonly<Record<LvmdProtocol, readonly string[]>> = {
  backups: ["gen/contract.binpb"],
  current: ["gen/contract.binpb", "gen/lvmd/current/contract.binpb"],
};

/**
 * Reads the comments of the contract, which the generated code lacks; `npm run gen` writes them to the package. Works from source
 * and from dist.
 * @throws Error when the package has no such file
 */
export async function readContractComments(lvmd: LvmdProtocol): Promise<CommentOf> {
  const manifest = findPackageJSON(import.meta.url);
  if (manifest === undefined) {
    throw new Error("the package with the contract's comments was not found");
  }
  const files = commentFiles[lvmd].map((name) => readFile(join(dirname(manifest), name)));
  const sets = (await Promise.all(files)).map((bytes) => fromBinary(FileDescriptorSetSchema, bytes));
  return commentsFrom({ file: sets.flatMap(({ file }) => file) });
}

/** Returns the comments of descriptors with source info. */
export function commentsFrom({ file: files }: Pick<FileDescriptorSet, "file">): CommentOf {
  const comments = new Map<string, string>();
  for (const file of files) {
    const names = pathNames(file);
    for (const { path, leadingComments } of file.sourceCodeInfo?.location ?? []) {
      const name = names.get(path.join("."));
      if (name !== undefined && leadingComments !== "") {
        comments.set(name, textOf(leadingComments));
      }
    }
  }
  return (desc) => comments.get(nameOf(desc)) ?? "";
}

function nameOf(desc: Commented): string {
  return "typeName" in desc ? desc.typeName : `${desc.parent.typeName}.${desc.name}`;
}

/** Removes the space after `//`, and joins the lines of a paragraph. */
function textOf(comment: string): string {
  const lines = comment.split("\n").map((line) => line.trim());
  return lines
    .join("\n")
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll("\n", " "))
    .join("\n\n");
}
