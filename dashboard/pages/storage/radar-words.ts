/** The scores of the radar by their names in GetClusterRadar, in the order of its message. */
export const radarFields = [
  "cluster_health",
  "nodes_health",
  "capacity_available",
  "stability",
  "reliability",
] as const;

export type RadarField = (typeof radarFields)[number];

/** Explanation of each score, where known. */
export type RadarWords = Readonly<Partial<Record<RadarField, string>>>;

/**
 * Parses the header `hostplane-radar`: "cluster_health: OSD_DOWN -15, RECENT_CRASH -5; nodes_health: 3 of 3 ready; …". The
 * explanation of a score may contain a semicolon.
 */
export function parseRadarWords(header: string): RadarWords {
  const begins = [...header.matchAll(new RegExp(`(?:^|; )(${radarFields.join("|")}): `, "g"))];
  return Object.fromEntries(
    begins.map((begin, index) => [
      begin[1],
      header.slice(begin.index + begin[0].length, begins[index + 1]?.index),
    ]),
  );
}
