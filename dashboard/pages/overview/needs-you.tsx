import { useSignal } from "@preact/signals";
import { Link } from "wouter-preact";
import { OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { isRetryable, proposeRetry } from "../../action/operation-changes.ts";
import { dismissOperation } from "../../live/dismissed-operations.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Status } from "../../parts/status.tsx";
import { Sentence } from "../../parts/text/sentence.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import type { Problem } from "./problems/problem.ts";

/** More would push everything else off the screen. */
const shownProblems = 12;

/** What needs a person, each with its cause, its place, its age and one next step. */
export function NeedsYou({ problems }: { readonly problems: readonly Problem[] }) {
  const showsAll = useSignal(false);
  const shown = showsAll.value ? problems : problems.slice(0, shownProblems);
  const hidden = problems.length - shown.length;
  return (
    <Panel
      title="Needs you"
      note={problems.length}
      tools={<span class="quiet small">most urgent first</span>}
      isFlush
    >
      <ul class="lines">
        {shown.map((problem) => (
          <ProblemLine key={problem.key} problem={problem} />
        ))}
        {hidden > 0 && (
          <li>
            <button
              type="button"
              class="link"
              onClick={() => {
                showsAll.value = true;
              }}
            >
              Show {hidden} more
            </button>
          </li>
        )}
      </ul>
    </Panel>
  );
}

function ProblemLine({ problem }: { readonly problem: Problem }) {
  const { severity, title, cause, place, sinceMs, path } = problem;
  return (
    <li class="problem">
      <Status kind={severity} text={severity === "failed" ? "problem" : "warning"} />
      <span class="grow">
        {path === undefined ? (
          <span class="title">{title}</span>
        ) : (
          <Link href={`~${path}`} class="title">
            {title}
          </Link>
        )}
        <span class="cause" title={cause}>
          <Sentence text={cause} />
        </span>
      </span>
      <span class="soft place">{place}</span>
      <span class="soft age">{sinceMs === undefined ? "—" : <TimeText atMs={sinceMs} />}</span>
      <span class="next">
        <NextStep problem={problem} />
      </span>
    </li>
  );
}

function NextStep({ problem: { title, command, path, operations = [] } }: { readonly problem: Problem }) {
  const [operation] = operations;
  if (operation !== undefined) {
    return (
      <>
        {isRetryable(operation) ? (
          <button
            type="button"
            class="small"
            aria-label={`Retry: ${title}`}
            onClick={() => proposeRetry(operation)}
          >
            Retry…
          </button>
        ) : (
          <Open path={`/operations/${operation.id}`} title={title} />
        )}
        {operation.state === OperationState.FAILED && (
          <button
            type="button"
            class="bare icon small"
            aria-label={`Dismiss: ${title}`}
            title="Dismiss"
            onClick={() => operations.forEach(dismissOperation)}
          >
            <Icon name="close" />
          </button>
        )}
      </>
    );
  }
  if (command !== undefined) {
    return <CopyButton text={command} label="Copy command" />;
  }
  return path === undefined ? null : <Open path={path} title={title} />;
}

function Open({ path, title }: { readonly path: string; readonly title: string }) {
  return (
    <Link href={`~${path}`} class="button small" aria-label={`Open: ${title}`}>
      Open
    </Link>
  );
}
