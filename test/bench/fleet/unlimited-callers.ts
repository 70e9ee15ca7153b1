/** `limits` of a gateway whose caller is a benchmark. The limits are active. */
export const unlimitedCallers = {
  caller: { requestsPerSecond: 1_000_000, streams: 65_535, mutations: 65_535, cpuMsPerSecond: 1_000_000 },
} as const;
