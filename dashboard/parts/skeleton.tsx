/** Stands for rows that are being loaded; shown only if that takes longer than a moment. */
export function Skeleton({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <span key={`row ${index}`} />
      ))}
    </div>
  );
}
