/** Tags, plain and grey. */
export function Tags({ of }: { readonly of: readonly string[] }) {
  return (
    <>
      {of.map((tag) => (
        <span key={tag} class="tag">
          {tag}
        </span>
      ))}
    </>
  );
}
