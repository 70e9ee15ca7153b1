import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
} from "@bufbuild/protobuf";
import { signal } from "@preact/signals";

/** A change that the user must confirm. */
export interface Action {
  /** Heading of the question: "Remove the volume data". */
  readonly title: string;
  /** Label of the button that makes the change: "Remove". */
  readonly label: string;
  readonly method: ActionMethod;
  readonly request: Readonly<Record<string, unknown>>;
  /** Whether something may be lost; shown in red. */
  readonly isDangerous: boolean;
  /** Whether PlanService supports the method. It does not support cancelling and retrying an operation. */
  readonly hasPlan: boolean;
  /** Throws when the response reports a failure although the call itself succeeded. */
  readonly assertAnswer?: ((answer: object | undefined) => void) | undefined;
  /** Whether to wait for the operations that the call starts or names. */
  readonly isFollowed: boolean;
  /** Text to show before the change when there is no plan. */
  readonly question?: string | undefined;
  /** Called after the change. */
  readonly onDone?: (() => void) | undefined;
}

export type ActionMethod = DescMethodUnary | DescMethodServerStreaming;

/** The action that the dialog shows; undefined for none. */
export const proposed = signal<Action | undefined>(undefined);

/** A change, as its page describes it. By default it is not dangerous, has a plan, and is followed to its end. */
export interface Proposal<I extends DescMessage, O extends DescMessage> {
  readonly title: string;
  readonly label: string;
  readonly method: DescMethodUnary<I, O> | DescMethodServerStreaming<I, O>;
  readonly request: MessageInitShape<I>;
  readonly isDangerous?: boolean;
  readonly hasPlan?: boolean;
  readonly isFollowed?: boolean;
  readonly question?: string;
  readonly assertAnswer?: (answer: object | undefined) => void;
  readonly onDone?: () => void;
}

/** Asks the user to confirm a change and shows its plan. A confirmed change is made and followed to its end. */
export function propose<I extends DescMessage, O extends DescMessage>(proposal: Proposal<I, O>): void {
  proposed.value = { isDangerous: false, hasPlan: true, isFollowed: true, ...proposal };
}
