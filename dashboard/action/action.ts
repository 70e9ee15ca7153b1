import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
} from "@bufbuild/protobuf";
import { signal } from "@preact/signals";

/** A change that the user must confirm. */
export interface Action {
  /** What it does, as a command: "Remove the volume data". */
  readonly title: string;
  /** Label of the button that makes the change: "Remove". */
  readonly label: string;
  readonly method: ActionMethod;
  readonly request: Readonly<Record<string, unknown>>;
  /** Whether something may be lost that cannot come back: the user types `confirmName`, if there is one. */
  readonly isDangerous: boolean;
  /** What the user has to type before something is lost for good, such as the name of the volume. */
  readonly confirmName?: string | undefined;
  /** Whether PlanService supports the method. It does not support cancelling and retrying an operation. */
  readonly hasPlan: boolean;
  /** Throws when the response reports a failure although the call itself succeeded. */
  readonly assertAnswer?: ((answer: object | undefined) => void) | undefined;
  /** Whether to wait for the operations that the call starts or names. */
  readonly isFollowed: boolean;
  /** Text to show before the change when there is no plan. */
  readonly question?: string | undefined;
  /** What the result says after the change; default: that it is done. */
  readonly doneText?: string | undefined;
  /** Called after the change. */
  readonly onDone?: (() => void) | undefined;
}

export type ActionMethod = DescMethodUnary | DescMethodServerStreaming;

/** Changes that the user confirms together, with the title of all. */
export interface Proposed {
  readonly title: string;
  readonly label: string;
  readonly actions: readonly Action[];
  /** What the user has to type before something is lost for good. */
  readonly confirmName?: string | undefined;
}

/** The changes that wait for the user's word; undefined for none. */
export const proposed = signal<Proposed | undefined>(undefined);

/** A change, as its page describes it. By default it is not dangerous, has a plan, and is followed to its end. */
export interface Proposal<I extends DescMessage, O extends DescMessage> {
  readonly title: string;
  readonly label: string;
  readonly method: DescMethodUnary<I, O> | DescMethodServerStreaming<I, O>;
  readonly request: MessageInitShape<I>;
  readonly isDangerous?: boolean;
  readonly confirmName?: string;
  readonly hasPlan?: boolean;
  readonly isFollowed?: boolean;
  readonly question?: string;
  readonly assertAnswer?: (answer: object | undefined) => void;
  readonly doneText?: string;
  readonly onDone?: () => void;
}

/** Adds the defaults to a proposal. */
export function actionOf<I extends DescMessage, O extends DescMessage>(proposal: Proposal<I, O>): Action {
  return { isDangerous: false, hasPlan: true, isFollowed: true, ...proposal };
}

/** Shows the plan of a change and asks the user to confirm it. */
export function propose<I extends DescMessage, O extends DescMessage>(proposal: Proposal<I, O>): void {
  const action = actionOf(proposal);
  proposed.value = {
    title: action.title,
    label: action.label,
    actions: [action],
    confirmName: action.confirmName,
  };
}

/**
 * Shows one plan for several changes and asks the user to confirm all of them.
 * @param confirmName what the user types if something is lost for good
 */
export function proposeAll(
  title: string,
  label: string,
  actions: readonly Action[],
  confirmName?: string,
): void {
  proposed.value = { title, label, actions, confirmName };
}
