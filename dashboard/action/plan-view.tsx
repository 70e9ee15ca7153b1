import type { PlanResponse } from "../../gen/hostplane/v1/plan_pb.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Note } from "../parts/note.tsx";
import { commandText } from "../parts/text/command-text.ts";

/** Shows what a change would do: what changes, what is lost, and the commands in the order they run. */
export function PlanView({ plan }: { readonly plan: PlanResponse }) {
  const commands = plan.steps.filter(({ command }) => command.length > 0);
  return (
    <div class="plan">
      <section aria-label="Changes">
        <h3>Changes</h3>
        {plan.changes.length === 0 ? (
          <p class="quiet">No changes.</p>
        ) : (
          <ul class="changes">
            {plan.changes.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        )}
      </section>
      <Losses of={plan.losses} />
      {plan.steps.length > 0 && (
        <section aria-label="Commands">
          <div class="row between">
            <h3>
              Commands <span class="quiet">{stepsText(plan)}</span>
            </h3>
            {commands.length > 0 && (
              <CopyButton
                label="Copy commands"
                text={commands.map(({ command }) => commandText(command)).join("\n")}
              />
            )}
          </div>
          <Steps plan={plan} />
        </section>
      )}
    </div>
  );
}

/** What is lost for good; says so if nothing is. */
function Losses({ of }: { readonly of: readonly string[] }) {
  return (
    <section aria-label="Losses">
      <h3>Losses</h3>
      {of.length === 0 ? (
        <Note tone="ok">No data is lost.</Note>
      ) : (
        <Note tone="bad">
          <strong>Permanently lost</strong>
          <ul>
            {of.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </Note>
      )}
    </section>
  );
}

function Steps({ plan: { steps, pointOfNoReturn } }: { readonly plan: PlanResponse }) {
  return (
    <ol class="commands">
      {steps.map(({ name, command }, index) => (
        <li key={name}>
          <span class="quiet small">{name}</span>
          {command.length > 0 && <code>{commandText(command)}</code>}
          {pointOfNoReturn < steps.length && index === pointOfNoReturn && (
            <div class="quiet small">This step and later ones cannot be undone.</div>
          )}
        </li>
      ))}
    </ol>
  );
}

function stepsText({ steps }: PlanResponse): string {
  return steps.length === 1 ? "1 step" : `${steps.length} steps`;
}
