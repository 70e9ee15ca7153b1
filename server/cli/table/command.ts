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
  /** Asks before it runs, and shows the plan, or the lines of `preview`. */
  readonly destroys: boolean;
  /** Whether the gateway can plan the RPC, for `--dry-run`. */
  readonly isPlannable: boolean;
  request(values: object): Promise<object> | object;
  readonly rendering: Rendering;
  /** Returns what is shown before it asks; undefined: the plan of the RPC. */
  readonly preview: ((session: Session, values: object) => Promise<readonly string[]>) | undefined;
  readonly watch: Watch | undefined;
  /** Returns the command that runs in place of this one for some values. */
  instead(values: object): Command | undefined;
}

export type Method = UnaryOrStream<DescMessage, DescMessage>;

/** How responses are printed. The engine calls a row's functions only with messages of the row's own RPC. */
export type Rendering =
  | ({ readonly kind: "list" } & ListRendering<DescMessage, DescMessage, object>)
  | ({ readonly kind: "log" } & LogRendering<DescMessage, DescMessage>)
  | ({ readonly kind: "show" } & ShowRendering<DescMessage, DescMessage, object>)
  | ({ readonly kind: "operation" } & OperationRendering<DescMessage, object>)
  | ({ readonly kind: "change" } & ChangeRendering<DescMessage, object>)
  | ({ readonly kind: "stream" } & StreamRendering<DescMessage>)
  | ({ readonly kind: "custom" } & CustomRendering<object>);

/** A table: a column for each entry, a row for each item. A cell is a field of the item, or the result of a function. */
export type Columns<Item> = Readonly<Record<string, (keyof Item & string) | ((item: Item) => string)>>;

/** A table or document of all items. */
interface ListRendering<Output extends DescMessage, Item extends DescMessage, Given> {
  readonly schema: Item;
  readonly items: (response: MessageShape<Output>) => readonly MessageShape<Item>[];
  readonly columns: Columns<MessageShape<Item>>;
  /** Columns that are left out if they are empty in all rows. */
  readonly optionalColumns?: readonly string[];
  /** Returns what `-o name` prints; absent: the id or name. */
  readonly id?: (item: MessageShape<Item>) => string;
  /** Returns remarks on the response, for stderr. */
  readonly notes?: (response: MessageShape<Output>) => readonly string[];
  /** Returns lines below an item of the table. */
  readonly below?: (item: MessageShape<Item>, values: Given) => readonly string[];
}

/** Items that are printed as they come, page by page. */
interface LogRendering<Output extends DescMessage, Item extends DescMessage> {
  readonly schema: Item;
  readonly items: (response: MessageShape<Output>) => readonly MessageShape<Item>[];
  /** Absent: each item is a line of JSON. */
  readonly lines?: (item: MessageShape<Item>) => readonly string[];
}

/** Everything known about one thing. */
interface ShowRendering<Output extends DescMessage, Item extends DescMessage, Given> {
  readonly schema: Item;
  readonly item: (response: MessageShape<Output>, values: Given) => MessageShape<Item> | undefined;
  readonly view: (item: MessageShape<Item>, context: Context) => View;
  /** Returns what `-o name` prints; absent: the id or name. */
  readonly id?: (item: MessageShape<Item>) => string;
}

/** What explains a response. */
export interface Context {
  /** Fields that could not be read (`hostplane-missing`). */
  readonly missing: readonly string[];
  readonly header: Headers;
}

/** A sentence about a change that is done when the RPC returns. */
interface ChangeRendering<Output extends DescMessage, Given> {
  readonly done: (response: MessageShape<Output>, values: Given) => string;
  /** Returns what `-o name` prints; absent: the first argument. */
  readonly id?: (response: MessageShape<Output>, values: Given) => string;
  /** Returns remarks, for stderr. */
  readonly notes?: (response: MessageShape<Output>, values: Given) => readonly string[];
  /** Prints the progress of what the RPC began, for `--wait`. Returns whether it succeeded. */
  readonly follow?: (session: Session, values: Given, printer: Printer) => Promise<boolean>;
}

/** The operation that the RPC began. */
interface OperationRendering<Output extends DescMessage, Given> {
  /** Present if the RPC may also have made the change at once, without an operation. Returns what it has done. */
  readonly done?: (response: MessageShape<Output>, values: Given) => string;
}

/** Messages that are printed as they come. */
interface StreamRendering<Output extends DescMessage> {
  /** Creates the function that formats the messages of one stream. */
  readonly createLines: () => (message: MessageShape<Output>) => readonly string[];
  /** Returns the part of a message that is printed as JSON; absent: all of it. */
  readonly json?: (message: MessageShape<Output>) => readonly [DescMessage, object] | undefined;
  /** Returns whether the command has succeeded, after the last message. */
  readonly hasSucceeded?: (last: MessageShape<Output> | undefined) => boolean;
  /** Returns where a failed stream can be resumed. */
  readonly cursorOf?: (message: MessageShape<Output>) => string | undefined;
}

interface CustomRendering<Given> {
  readonly run: (session: Session, values: Given, printer: Printer, waiting: Waiting) => Promise<ExitCode>;
  /** Whether it has something to wait for. */
  readonly canWait?: boolean;
}

/** Whether `--wait` was given. */
export interface Waiting {
  readonly isWaiting: boolean;
}

/** The RPC of `--watch`: the current state, then each change. */
export interface Watch {
  readonly method: DescMethodServerStreaming<DescMessage, DescMessage>;
  request(values: object): object;
  createLines(): (message: object) => readonly string[];
}

type UnaryOrStream<Input extends DescMessage, Output extends DescMessage> =
  | DescMethodUnary<Input, Output>
  | DescMethodServerStreaming<Input, Output>;

/** The fields of every row. */
interface Row<Of extends Parameters, Input extends DescMessage> {
  readonly name: string;
  readonly summary: string;
  readonly parameters?: Of;
  readonly isOffline?: boolean;
  /** Makes the request; absent if each parameter is a field of it. */
  readonly request?: (values: Values<Of>) => MessageInitShape<Input> | Promise<MessageInitShape<Input>>;
  readonly destroys?: boolean;
  readonly isPlannable?: boolean;
  readonly preview?: (session: Session, values: Values<Of>) => Promise<readonly string[]>;
  readonly watch?: Watch;
  readonly instead?: (values: Values<Of>) => Command | undefined;
}

type None = Readonly<Record<never, never>>;

/** Declares the RPC of `--watch`. */
export function watch<Given, Input extends DescMessage, Output extends DescMessage>(row: {
  readonly method: DescMethodServerStreaming<Input, Output>;
  readonly request?: (values: Given) => MessageInitShape<Input>;
  readonly createLines: () => (message: MessageShape<Output>) => readonly string[];
}): Watch {
  return erased<Watch>({ request: () => ({}), ...row });
}

/** Declares a command that prints a table of what the RPC returns, all pages of it. */
export function list<
  Input extends DescMessage,
  Output extends DescMessage,
  Item extends DescMessage,
  const Of extends Parameters = None,
>(
  row: Row<Of, Input> &
    ListRendering<Output, Item, Values<Of>> & { readonly method: UnaryOrStream<Input, Output> },
): Command {
  return command("list", row);
}

/** Declares a command that prints each item as it comes, as lines or as JSON lines. */
export function log<
  Input extends DescMessage,
  Output extends DescMessage,
  Item extends DescMessage,
  const Of extends Parameters = None,
>(
  row: Row<Of, Input> & LogRendering<Output, Item> & { readonly method: DescMethodUnary<Input, Output> },
): Command {
  return command("log", row);
}

/** Declares a command that prints everything known about one thing. */
export function show<
  Input extends DescMessage,
  Output extends DescMessage,
  Item extends DescMessage,
  const Of extends Parameters = None,
>(
  row: Row<Of, Input> &
    ShowRendering<Output, Item, Values<Of>> & { readonly method: UnaryOrStream<Input, Output> },
): Command {
  return command("show", row);
}

/** Declares a command whose RPC starts an operation and returns it, always or if it would take long. */
export function operation<
  Input extends DescMessage,
  Output extends DescMessage,
  const Of extends Parameters = None,
>(
  row: Row<Of, Input> &
    OperationRendering<Output, Values<Of>> & { readonly method: DescMethodUnary<Input, Output> },
): Command {
  return command("operation", row);
}

/** Declares a command that changes something and is done when the RPC returns. */
export function change<
  Input extends DescMessage,
  Output extends DescMessage,
  const Of extends Parameters = None,
>(
  row: Row<Of, Input> &
    ChangeRendering<Output, Values<Of>> & { readonly method: DescMethodUnary<Input, Output> },
): Command {
  return command("change", row);
}

/** Declares a command that prints the messages of a stream. */
export function stream<
  Input extends DescMessage,
  Output extends DescMessage,
  const Of extends Parameters = None,
>(
  row: Row<Of, Input> &
    StreamRendering<Output> & {
      readonly method: DescMethodServerStreaming<Input, Output>;
    },
): Command {
  return command("stream", row);
}

/** Declares a command that makes several calls. `method` and `request` are the call that is planned. */
export function custom<
  Input extends DescMessage,
  Output extends DescMessage,
  const Of extends Parameters = None,
>(
  row: Row<Of, Input> & CustomRendering<Values<Of>> & { readonly method?: UnaryOrStream<Input, Output> },
): Command {
  return command("custom", row);
}

function command(
  kind: Rendering["kind"],
  row: { readonly method?: { readonly input: DescMessage } },
): Command {
  const { method } = row;
  const defaults = {
    parameters: {},
    isOffline: false,
    method: undefined,
    destroys: false,
    isPlannable: true,
    request: (values: object) => (method === undefined ? {} : requestFromValues(method.input, values)),
    preview: undefined,
    watch: undefined,
    instead: () => undefined,
  };
  return erased<Command>({ ...defaults, ...row, rendering: { ...row, kind } });
}

/** Forgets the types of a row's functions. */
function erased<Type>(row: unknown): Type {
  return row as Type;
}
