/** Number of hosts that a hub asks at the same time. */
const maxConcurrent = 64;

/** Runs work for each host, several at a time. Begins no more work once `isDone` returns true. */
export async function forEachHost<Host>(
  hosts: readonly Host[],
  work: (host: Host) => Promise<void>,
  isDone: () => boolean = () => false,
): Promise<void> {
  const waiting = hosts.values();
  const workers = Array.from({ length: Math.min(maxConcurrent, hosts.length) }, async () => {
    for (const host of waiting) {
      if (isDone()) {
        return;
      }
      await work(host);
    }
  });
  await Promise.all(workers);
}
