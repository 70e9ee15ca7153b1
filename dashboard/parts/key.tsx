/** The key that does the same as the button it is in; not part of the button's name. */
export function Key({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a `kbd` cannot have the focus
    <kbd aria-hidden="true">{text}</kbd>
  );
}
