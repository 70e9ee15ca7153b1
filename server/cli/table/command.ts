import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { ExitCode } from "./output.ts";
import type { Parameters, Values } from "./parameter.ts";
import type { Printer } from "./printer.ts";
import type { Reference } from "./reference.ts";
import { requestFromValues } from "./request-from-values.ts";
import type { Session } from "./session.ts";
import type { View } from "./view.ts";

/** The commands of a noun, such as `pod`, and what its arguments name. */
export interface Noun {
  readonly commands: readonly Command[];
  readonly reference?: Reference;
}

/** A command as the engine runs it. Rows are written with the functions below, which know the types of their RPC. */
export interface Command {
  /** The word after the noun; empty if the noun itself is the command. */
  readonly name: string;
  readonly summary: string;
  readonly parameters: Parameters;
  /** Needs only the store: works while no gateway is running. */
  readonly isOffline: boolean;
  /** The RPC; undefined for a command that makes several calls. */
  readonly method: Method | undefined;
  /** Asks before it runs, and shows the plan. */
  readonly destroys: boolean;
  /** Whether the gateway can plan the RPC, for `--dry-run`. */
  readonly isPlannable: boolean;
  request(values: Values<Parameters>): Promise<object> | object;
  readonly rendering: Rendering;
  readonly watch: Watch | undefined;
  /** Returns the command that runs in place of this one for some values. */
  instead(values: object): Command | undefined;
}

export type Method =
  | DescMethodUnary<DescMessage, DescMessage>
  | DescMethodServerStreaming<DescMessage, DescMessage>;

/** How responses are printed. Every function gets messages of the command's RPC. */
export type Rendering =
  | ListRendering
  | LogRendering
  | ShowRendering
  | OperationRendering
  | DoneRendering
  | StreamRendering
  | CustomRendering;

interface CustomRendering {
  readonly kind: "custom";
  /** Whether it has something to wait for. */
  readonly canWait: boolean;
  run(session: Session, values: object, printer: Printer, waiting: Waiting): Promise<ExitCode>;
}

/** Whether `--wait` was given. */
export interface Waiting {
  readonly isWaiting: boolean;
}

/** Headers that explain a response. */
export interface Context {
  /** Fields that could not be read (`hostplane-missing`). */
  readonly missing: readonly string[];
  readonly header: Headers;
  readonly values: Values<Parameters>;
}

/** A table: a column for each entry, a row for each item. A cell is a field of the item, or what a function makes of it. */
export type Columns<Item> = Readonly<Record<string, (keyof Item & string) | ((item: Item) => string)>>;

interface ListRendering {
  readonly kind: "list";
  readonly schema: DescMessage;
  items(response: object): readonly object[];
  readonly columns: Readonly<Record<string, string | ((item: object) => string)>>;
  /** Returns what `-o name` prints; absent: the id or name. */
  readonly id: ((item: object) => string) | undefined;
  /** Remarks on the response, printed on stderr. */
  notes(response: object): readonly string[];
  /** Lines below an item of the table. */
  below(item: object, values: object): readonly string[];
}

/** Items that are printed as they come, page by page. */
interface LogRendering {
  readonly kind: "log";
  readonly schema: DescMessage;
  items(response: object): readonly object[];
  /** Undefined: each item as a line of JSON. */
  readonly lines: ((item: object) => readonly string[]) | undefined;
}

interface ShowRendering {
  readonly kind: "show";
  readonly schema: DescMessage;
  item(response: object, values: object): object | undefined;
  view(item: object, context: Context): View;
  readonly id: ((item: object) => string) | undefined;
}

/** The RPC starts an operation, and returns it. */
interface OperationRendering {
  readonly kind: "operation";
}

/** The RPC has done it: prints a sentence. */
interface DoneRendering {
  readonly kind: "done";
  text(response: object, values: object): string;
  /** Returns what `-o name` prints; absent: the first argument. */
  readonly id: ((response: object, values: object) => string) | undefined;
  /** Follows what the RPC began, for `--wait`. */
  follow: ((session: Session, values: object, printer: Printer) => Promise<boolean>) | undefined;
}

/** Each message is printed as it comes. */
interface StreamRendering {
  readonly kind: "stream";
  /** Creates the function that formats the messages of one stream. */
  createLines(): (message: object) => readonly string[];
  /** The messages as JSON; absent: the message itself. */
  json: ((message: object) => readonly [DescMessage, object] | undefined) | undefined;
  /** After the last message: whether the command has succeeded. */
  hasSucceeded: ((last: object | undefined) => boolean) | undefined;
  /** Returns where a failed stream can be resumed. */
  cursorOf: ((message: object) => string | undefined) | undefined;
}

/** The RPC of `--watch`: the current state, then each change. */
export interface Watch {
  readonly method: DescMethodServerStreaming<DescMessage, DescMessage>;
  request(values: Values<Parameters>): object;
  createLines(): (message: object) => readonly string[];
}

type Unary<Input extends DescMessage, Output extends DescMessage> = DescMethodUnary<Input, Output>;

/** What all rows have. */
interface Row<Of extends Parameters> {
  readonly name: string;
  readonly summary: string;
  readonly parameters?: Of;
  readonly isOffline?: boolean;
}

interface Calling<Of extends Parameters, Input extends DescMessage> extends Row<Of> {
  /** Makes the request; absent if each parameter is a field of it. */
  readonly request?: (values: Values<Of>) => MessageInitShape<Input> | Promise<MessageInitShape<Input>>;
}

/** What changes have as well. */
interface Changing {
  readonly destroys?: boolean;
  readonly isPlannable?: boolean;
}

interface WatchRow<Given, Input extends DescMessage, Output extends DescMessage> {
  readonly method: DescMethodServerStreaming<Input, Output>;
  readonly request?: (values: Given) => MessageInitShape<Input>;
  readonly createLines: () => (message: MessageShape<Output>) => readonly string[];
}

/** Declares the RPC of `--watch`. */
export function watch<Given, Input extends DescMessage, Output extends DescMessage>(
  row: WatchRow<Given, Input, Output>,
): Watch {
  return erased<Watch>({ request: () => ({}), ...row });
}

/** Declares a command that prints a table of what the RPC returns, all pages of it. */
export function list<
  Input extends DescMessage,
  Output extends DescMessage,
  Item extends DescMessage,
  const Of extends Parameters = Readonly<Record<never, never>>,
>(
  row: Calling<Of, Input> & {
    readonly method: Unary<Input, Output> | DescMethodServerStreaming<Input, Output>;
    readonly schema: Item;
    readonly items: (response: MessageShape<Output>) => readonly MessageShape<Item>[];
    readonly columns: Columns<MessageShape<Item>>;
    readonly id?: (item: MessageShape<Item>) => string;
    readonly notes?: (response: MessageShape<Output>) => readonly string[];
    readonly below?: (item: MessageShape<Item>, values: Values<Of>) => readonly string[];
    readonly watch?: Watch;
  },
): Command {
  const { schema, items, columns, id, notes = () => [], below = () => [] } = row;
  return command(row, { kind: "list", schema, items, columns, id, notes, below });
}

/** Declares a command that prints each item as it comes, as lines or as JSON lines. */
export function log<
  Input extends DescMessage,
  Output extends DescMessage,
  Item extends DescMessage,
  const Of extends Parameters = Readonly<Record<never, never>>,
>(
  row: Calling<Of, Input> & {
    readonly method: Unary<Input, Output>;
    readonly schema: Item;
    readonly items: (response: MessageShape<Output>) => readonly MessageShape<Item>[];
    readonly lines?: (item: MessageShape<Item>) => readonly string[];
  },
): Command {
  const { schema, items, lines } = row;
  return command(row, { kind: "log", schema, items, lines });
}

/** Declares a command that prints everything known about one thing. */
export function show<
  Input extends DescMessage,
  Output extends DescMessage,
  Item extends DescMessage,
  const Of extends Parameters = Readonly<Record<never, never>>,
>(
  row: Calling<Of, Input> & {
    readonly method: Unary<Input, Output> | DescMethodServerStreaming<Input, Output>;
    readonly schema: Item;
    readonly item: (response: MessageShape<Output>, values: Values<Of>) => MessageShape<Item> | undefined;
    readonly view: (item: MessageShape<Item>, context: Context) => View;
    readonly id?: (item: MessageShape<Item>) => string;
    readonly watch?: Watch;
  },
): Command {
  const { schema, item, view, id } = row;
  return command(row, { kind: "show", schema, item, view, id });
}

/** Declares a command that starts an operation. */
export function operation<
  Input extends DescMessage,
  Output extends DescMessage,
  const Of extends Parameters = Readonly<Record<never, never>>,
>(row: Calling<Of, Input> & Changing & { readonly method: Unary<Input, Output> }): Command {
  return command(row, { kind: "operation" });
}

/** Declares a command that changes something and is done when the RPC returns. */
export function change<
  Input extends DescMessage,
  Output extends DescMessage,
  const Of extends Parameters = Readonly<Record<never, never>>,
>(
  row: Calling<Of, Input> &
    Changing & {
      readonly method: Unary<Input, Output>;
      /** What is printed. */
      readonly done: (response: MessageShape<Output>, values: Values<Of>) => string;
      /** What `-o name` prints. */
      readonly id?: (response: MessageShape<Output>, values: Values<Of>) => string;
      readonly follow?: (session: Session, values: Values<Of>, printer: Printer) => Promise<boolean>;
    },
): Command {
  return command(row, { kind: "done", text: row.done, id: row.id, follow: row.follow });
}

/** Declares a command that prints the messages of a stream. */
export function stream<
  Input extends DescMessage,
  Output extends DescMessage,
  const Of extends Parameters = Readonly<Record<never, never>>,
>(
  row: Calling<Of, Input> &
    Changing & {
      readonly method: DescMethodServerStreaming<Input, Output>;
      readonly createLines: () => (message: MessageShape<Output>) => readonly string[];
      readonly json?: (message: MessageShape<Output>) => readonly [DescMessage, object] | undefined;
      readonly hasSucceeded?: (last: MessageShape<Output> | undefined) => boolean;
      readonly instead?: (values: Values<Of>) => Command | undefined;
      readonly cursorOf?: (message: MessageShape<Output>) => string | undefined;
    },
): Command {
  const { createLines, json, hasSucceeded, cursorOf } = row;
  return command(row, { kind: "stream", createLines, json, hasSucceeded, cursorOf });
}

/** Declares a command that makes several calls. `method` names the RPC that is planned. */
export function custom<
  Input extends DescMessage,
  Output extends DescMessage,
  const Of extends Parameters = Readonly<Record<never, never>>,
>(
  row: Calling<Of, Input> &
    Changing & {
      readonly method?: Unary<Input, Output> | DescMethodServerStreaming<Input, Output>;
      readonly run: (
        session: Session,
        values: Values<Of>,
        printer: Printer,
        waiting: Waiting,
      ) => Promise<ExitCode>;
      readonly canWait?: boolean;
      readonly watch?: Watch;
    },
): Command {
  return command(row, { kind: "custom", run: row.run, canWait: row.canWait === true });
}

function command(row: object, rendering: object): Command {
  const { method } = row as { readonly method?: Method };
  const defaults = {
    parameters: {},
    isOffline: false,
    method: undefined,
    destroys: false,
    isPlannable: true,
    request: (values: object) => (method === undefined ? {} : requestFromValues(method.input, values)),
    watch: undefined,
    instead: () => undefined,
  };
  return erased<Command>({ ...defaults, ...row, rendering });
}

/** The engine calls a row's functions only with messages of the row's own RPC, so their types need not be kept. */
function erased<Type>(row: unknown): Type {
  return row as Type;
}
