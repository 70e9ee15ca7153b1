import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  Message,
  MessageInitShape,
} from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import type { EngineOptions } from "./engine-options.ts";
import { planOf, printPlan } from "./plan.ts";
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
import type { Printer } from "./table/printer.ts";
import { anyName, type Reference, resolveReference } from "./table/reference.ts";
import { type Answer, firstOf, type Session } from "./table/session.ts";
import { messageOfCall } from "./target/with-session.ts";

type AnyUnary = DescMethodUnary<DescMessage, DescMessage>;
type AnyStream = DescMethodServerStreaming<DescMessage, DescMessage>;
type AnyRequest = MessageInitShape<DescMessage>;

/** A command as it was typed. */
export interface Typed {
  readonly command: Command;
  readonly values: Values<Parameters>;
  /** The request, if it needs no look-ups. */
  readonly early: object | undefined;
  readonly options: EngineOptions;
}

/** A command that only has to be called. */
export interface Prepared {
  readonly values: Values<Parameters>;
  readonly request: object;
}

/** Resolves what the arguments name, and makes the request. */
export async function prepare(
  { command, values: typed, early, options }: Typed,
  session: Session,
): Promise<Prepared> {
  const values = await resolved(command.parameters, typed, session);
  const isWatch = options.watch === true && command.watch !== undefined;
  return { values, request: isWatch ? {} : (early ?? (await requestOf(command, values))) };
}

/** Calls the RPC, or plans the call for `--dry-run`, and prints the response. */
export async function perform(
  { command, options }: Typed,
  { values, request }: Prepared,
  session: Session,
  printer: Printer,
): Promise<ExitCode> {
  if (options.watch === true && command.watch !== undefined) {
    return watch(command.watch, values, session, printer);
  }
  if (options.dryRun === true && command.method !== undefined) {
    printPlan(await planOf(session, command.method, request), printer);
    return 0;
  }
  return call(command, { request, values, isWaiting: options.wait === true }, session, printer);
}

/**
 * Reports whether ids have to be looked up before the request can be made. Otherwise it is made before the gateway is called,
 * since that may lock the store, and a request may ask for a password.
 */
export function hasLookups({ parameters }: Command): boolean {
  return Object.values(parameters).some(
    ({ type }) => type.reference !== undefined && type.reference.fullId !== anyName,
  );
}

/** Makes the request of a command. */
export function requestOf(
  command: Command,
  { limit: _limit, ...fields }: Values<Parameters>,
): Promise<object> | object {
  return command.request(fields);
}

/** Returns the RPC if the gateway can plan it. */
export function plannable({ isPlannable, method }: Command): Method | undefined {
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
    case "operation": {
      const answer = await unary();
      const { done } = rendering;
      if (done !== undefined && (answer.message as { readonly operation?: object }).operation === undefined) {
        printChange({ done }, answer, (method as AnyUnary).output, values, printer);
        return 0;
      }
      return printOperation(answer, session, isWaiting, printer);
    }
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
