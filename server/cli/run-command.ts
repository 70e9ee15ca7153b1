import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  Message,
  MessageInitShape,
} from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { createPrinter } from "./create-printer.ts";
import { confirmChange, planOf, printPlan } from "./plan.ts";
import {
  printChange,
  printItem,
  printList,
  printLog,
  printOperation,
  printStream,
  type ReadPage,
} from "./render.ts";
import type { Command, Method, Waiting } from "./table/command.ts";
import type { ExitCode } from "./table/output.ts";
import type { Parameters, Values } from "./table/parameter.ts";
import type { Format, Printer } from "./table/printer.ts";
import { anyName, type Reference, resolveReference } from "./table/reference.ts";
import { type Answer, firstOf, type Session } from "./table/session.ts";
import {
  type CommandContext,
  explainFailure,
  messageOfCall,
  type TargetOptions,
  withSession,
} from "./target/with-session.ts";
import { canAsk } from "./terminal.ts";

/** Flags that the engine adds to commands, where they apply. */
export interface EngineOptions extends TargetOptions {
  readonly output?: Format;
  readonly watch?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly wait?: boolean;
}

type AnyUnary = DescMethodUnary<DescMessage, DescMessage>;
type AnyStream = DescMethodServerStreaming<DescMessage, DescMessage>;
type AnyRequest = MessageInitShape<DescMessage>;

/**
 * Runs a command: resolves what its arguments name, plans or asks where it should, calls the RPC and prints the response.
 * Returns its exit code.
 */
export async function runCommand(
  row: Command,
  typed: Values<Parameters>,
  options: EngineOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const command = row.instead(typed) ?? row;
  const printer = createPrinter(context.output, options.output ?? "table");
  const { dryRun: isDryRun = false, yes: isConfirmed = false } = options;
  const mustAsk = command.destroys && !isConfirmed && !isDryRun;
  if (mustAsk && !canAsk()) {
    printer.err("this cannot be undone: confirm it with --yes, or see what it would do with --dry-run");
    return 2;
  }
  let early: object | undefined;
  try {
    early = hasLookups(command) ? undefined : await requestOf(command, typed);
  } catch (error) {
    return explainFailure(error, undefined, context.output);
  }
  return withSession(options, context, { mustRun: !command.isOffline }, async (session) => {
    const values = await resolved(command.parameters, typed, session);
    if (options.watch === true && command.watch !== undefined) {
      return watch(command.watch, values, session, printer);
    }
    const request = early ?? (await requestOf(command, values));
    if (isDryRun && command.method !== undefined) {
      printPlan(await planOf(session, command.method, request), printer);
      return 0;
    }
    if (mustAsk && !(await confirmChange(session, plannable(command), request, printer))) {
      return 1;
    }
    return call(command, { request, values, isWaiting: options.wait === true }, session, printer);
  });
}

/**
 * Reports whether ids have to be looked up before the request can be made. Otherwise it is made before the gateway is called,
 * since that may lock the store, and a request may ask for a password.
 */
function hasLookups({ parameters }: Command): boolean {
  return Object.values(parameters).some(
    ({ type }) => type.reference !== undefined && type.reference.fullId !== anyName,
  );
}

function requestOf(
  command: Command,
  { limit: _limit, ...fields }: Values<Parameters>,
): Promise<object> | object {
  return command.request(fields);
}

function plannable({ isPlannable, method }: Command): Method | undefined {
  return isPlannable ? method : undefined;
}

/** Replaces what names a resource by what the RPC takes. */
async function resolved(
  parameters: Parameters,
  values: Values<Parameters>,
  session: Session,
): Promise<Values<Parameters>> {
  const entries = Object.entries(values).map(async ([key, value]) => {
    const reference = parameters[key]?.type.reference;
    return [key, reference === undefined ? value : await resolve(value, reference, session)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

function resolve(value: unknown, reference: Reference, session: Session): Promise<unknown> | unknown {
  if (Array.isArray(value)) {
    return Promise.all(value.map((each) => resolve(each, reference, session)));
  }
  return typeof value === "string" ? resolveReference(value, reference, session) : value;
}

interface Call extends Waiting {
  readonly request: object;
  readonly values: Values<Parameters>;
}

async function call(
  command: Command,
  { request, values, isWaiting }: Call,
  session: Session,
  printer: Printer,
): Promise<ExitCode> {
  const { rendering, method } = command;
  if (rendering.kind === "custom") {
    return rendering.run(session, values, printer, { isWaiting });
  }
  const unary = async (more: object = {}): Promise<Answer<DescMessage>> => {
    const complete = { ...request, ...more } as AnyRequest;
    return method?.methodKind === "server_streaming"
      ? { message: await firstOf(session, method as AnyStream, complete), header: new Headers() }
      : session.call(method as AnyUnary, complete);
  };
  const readPage: ReadPage = (pageToken, pageSize) =>
    unary(method !== undefined && "pageToken" in method.input.field ? { pageToken, pageSize } : {});
  switch (rendering.kind) {
    case "list":
      await printList(rendering, readPage, values, printer);
      return 0;
    case "log":
      await printLog(rendering, readPage, printer);
      return 0;
    case "show":
      printItem(rendering, await unary(), values, printer);
      return 0;
    case "operation":
      return printOperation(await unary(), session, isWaiting, printer);
    case "change": {
      const answer = await unary();
      if (isWaiting && rendering.follow !== undefined) {
        return (await rendering.follow(session, values, printer)) ? 0 : 1;
      }
      printChange(rendering, answer, (method as AnyUnary).output, values, printer);
      return 0;
    }
    case "stream":
      return followStream(command, request, session, printer);
  }
}

async function followStream(
  { method, rendering }: Command,
  request: object,
  session: Session,
  printer: Printer,
): Promise<ExitCode> {
  if (rendering.kind !== "stream") {
    throw new TypeError("not a stream");
  }
  const streaming = method as AnyStream;
  const { cursorOf, createLines } = rendering;
  const json = rendering.json ?? ((message: Message) => [streaming.output, message] as const);
  let cursor: string | undefined;
  try {
    const last = await printStream(
      async (signal) => {
        const { messages, header } = await session.follow(streaming, request as AnyRequest, signal);
        const watched = (async function* () {
          for await (const message of messages) {
            cursor = cursorOf?.(message) ?? cursor;
            yield message;
          }
        })();
        return { messages: watched, header };
      },
      createLines,
      json,
      printer,
    );
    return (rendering.hasSucceeded?.(last) ?? true) ? 0 : 1;
  } catch (error) {
    throw cursorOf === undefined ? error : withNextCursor(error, cursor);
  }
}

async function watch(
  { method, request, createLines }: NonNullable<Command["watch"]>,
  values: Values<Parameters>,
  session: Session,
  printer: Printer,
): Promise<ExitCode> {
  await printStream(
    (signal) => session.follow(method, request(values) as AnyRequest, signal),
    createLines,
    (message) => [method.output, message],
    printer,
  );
  return 0;
}

/** Adds the cursor to resume from to the error, if one is known. */
function withNextCursor(error: unknown, cursor: string | undefined): unknown {
  const failure = ConnectError.from(error);
  const [info] = failure.findDetails(ErrorInfoSchema);
  const next = info?.metadata.cursor ?? info?.metadata.oldestCursor ?? cursor;
  return next === undefined
    ? error
    : new Error(`${messageOfCall(failure)}; resume with --from-cursor ${next}`);
}
