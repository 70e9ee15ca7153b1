import type { Signal } from "@preact/signals";
import { useId } from "preact/hooks";

/** A labelled text input, bound to a signal. */
export function TextField(props: {
  readonly label: string;
  readonly value: Signal<string>;
  readonly type?: "text" | "password" | "number" | "datetime-local" | "search";
  readonly hint?: string;
  /** Why the gateway rejected it. */
  readonly error?: string | undefined;
  readonly autocomplete?: "username" | "current-password" | "new-password" | "off";
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
  /** Whether the label stands before it instead of above. */
  readonly isInline?: boolean;
}) {
  const { label, value, hint, error, type = "text", autocomplete = "off", isInline = false, ...rest } = props;
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div class={isInline ? "row" : "field"}>
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
        aria-describedby={described === "" ? undefined : described}
        aria-invalid={error !== undefined}
      />
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {error !== undefined && (
        <span class="error" id={`${id}-error`} role="alert">
          {error}
        </span>
      )}
    </div>
  );
}
