import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
} from "@bufbuild/protobuf";
import { signal } from "@preact/signals";

/** A change that the user is asked about before it is made. */
export interface Action {
  /** What will be done, as a question's heading: "Remove the volume data". */
  readonly title: string;
  /** On the button that does it: "Remove". */
  readonly label: string;
  readonly method: ActionMethod;
  readonly request: Readonly<Record<string, unknown>>;
  /** Whether something may be lost; it is told in red. */
  readonly isDangerous: boolean;
  /** Whether PlanService knows what the method does; of cancelling and retrying an operation it does not. */
  readonly hasPlan: boolean;
  /** Throws when the answer tells of a failure that the call has not ended with. */
  readonly assertAnswer?: ((answer: object | undefined) => void) | undefined;
  /** Whether the operations that it begins or names are waited for. */
  readonly isFollowed: boolean;
  /** What there is to say before it is done, where there is no plan that says it. */
  readonly question?: string | undefined;
  /** Called once it is done. */
  readonly onDone?: (() => void) | undefined;
}

export type ActionMethod = DescMethodUnary | DescMethodServerStreaming;

/** The action that is asked about; undefined for none. */
export const proposed = signal<Action | undefined>(undefined);

/** A change as its page words it. By default it is not dangerous, has a plan, and is followed to its end. */
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

/** Asks the user about a change, with its plan; it is made when they agree, and followed to its end. */
export function propose<I extends DescMessage, O extends DescMessage>(proposal: Proposal<I, O>): void {
  proposed.value = { isDangerous: false, hasPlan: true, isFollowed: true, ...proposal };
}
