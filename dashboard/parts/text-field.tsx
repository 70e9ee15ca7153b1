import type { Signal } from "@preact/signals";
import { useId } from "preact/hooks";

/** A labelled line of input, bound to a signal. */
export function TextField(props: {
  readonly label: string;
  readonly value: Signal<string>;
  readonly type?: "text" | "password" | "number" | "datetime-local" | "search";
  readonly hint?: string;
  readonly autocomplete?: "username" | "current-password" | "new-password" | "off";
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
}) {
  const { label, value, hint, type = "text", autocomplete = "off", ...rest } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...rest}
        id={id}
        type={type}
        autocomplete={autocomplete}
        value={value.value}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}
