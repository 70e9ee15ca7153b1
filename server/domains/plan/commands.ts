import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { JsonObject } from "@bufbuild/protobuf";
import { PlanResponseSchema, PlanService } from "../../../gen/hostplane/v1/plan_pb.ts";
import { type Noun, show } from "../../cli/table/command.ts";
import { argument, file, optionalArgument, word } from "../../cli/table/parameter.ts";
import { planLines } from "../../cli/table/plan-text.ts";
import { UsageError } from "../../cli/table/usage-error.ts";

/** Plans of any RPC. */
export const planNoun: Noun = {
  commands: [
    show({
      name: "",
      summary: "print what a call would change or lose, and its commands; changes nothing",
      parameters: {
        method: argument("full name of the RPC, such as proto.LVService/RemoveLV", word("method")),
        request: optionalArgument("file with the request as JSON; - for stdin (default: an empty one)", file),
      },
      method: PlanService.method.plan,
      request: async ({ method, request }) => ({
        method,
        request: { case: "json" as const, value: await requestFrom(request) },
      }),
      schema: PlanResponseSchema,
      item: (response) => response,
      id: (item) => item.resource,
      view: (item) => ({ lines: planLines(item) }),
    }),
  ],
};

async function requestFrom(source: string | undefined): Promise<JsonObject> {
  if (source === undefined) {
    return {};
  }
  const json = source === "-" ? await text(process.stdin) : await readFile(source, "utf8");
  try {
    return JSON.parse(json) as JsonObject;
  } catch (cause) {
    throw new UsageError(`${source}: the request is not JSON`, { cause });
  }
}
