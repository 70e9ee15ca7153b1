import type { PlanResponse } from "../../gen/hostplane/v1/plan_pb.ts";
import { commandText } from "../parts/text/command-text.ts";

/** Shows what a change would do: first what is lost, then what changes, then the commands in the order they run. */
export function PlanView({ plan }: { readonly plan: PlanResponse }) {
  return (
    <div class="stack">
      {plan.losses.length > 0 && (
        <div class="note bad">
          <strong>Permanently lost</strong>
          <Sentences of={plan.losses} />
        </div>
      )}
      {plan.changes.length === 0 ? <p>No changes.</p> : <Sentences of={plan.changes} />}
      {plan.steps.length > 0 && (
        <details open={plan.losses.length > 0}>
          <summary>Steps and commands</summary>
          <ol>
            {plan.steps.map(({ name, command }, index) => (
              <li key={name}>
                {name}
                {command.length > 0 && (
                  <div>
                    <code>{commandText(command)}</code>
                  </div>
                )}
                {plan.pointOfNoReturn < plan.steps.length && index === plan.pointOfNoReturn && (
                  <div class="quiet">Point of no return: this step and later ones cannot be undone.</div>
                )}
              </li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}

function Sentences({ of }: { readonly of: readonly string[] }) {
  return (
    <ul>
      {of.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}
