import type { Signal } from "@preact/signals";
import { useId } from "preact/hooks";

/** A labelled select box, bound to a signal. */
export function SelectField(props: {
  readonly label: string;
  readonly value: Signal<string>;
  /** Values and their texts. */
  readonly options: readonly { readonly value: string; readonly text: string }[];
  /** Whether the label stands before it instead of above. */
  readonly isInline?: boolean;
}) {
  const { label, value, options, isInline = false } = props;
  const id = useId();
  return (
    <div class={isInline ? "row" : "field"}>
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value.value}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </div>
  );
}
