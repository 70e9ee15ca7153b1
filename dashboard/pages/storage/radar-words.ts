/** The scores of the radar as GetClusterRadar names them, in the order of its message. */
export const radarFields = [
  "cluster_health",
  "nodes_health",
  "capacity_available",
  "stability",
  "reliability",
] as const;

export type RadarField = (typeof radarFields)[number];

/** What each score was made of, as far as it was told. */
export type RadarWords = Readonly<Partial<Record<RadarField, string>>>;

/**
 * Reads the header `hostplane-radar`: "cluster_health: OSD_DOWN -15, RECENT_CRASH -5; nodes_health: 3 of 3 ready; …". The words of
 * a score may have a semicolon of their own.
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

/** What Ceph complains about and what that takes off the score, of the words of cluster_health. */
export interface Complaint {
  /** As "OSD_DOWN"; of many the last may be "3 more". */
  readonly what: string;
  /** Undefined where the words do not tell. */
  readonly points: number | undefined;
}

/** The complaints of the words of cluster_health: "OSD_DOWN -15, RECENT_CRASH -5". None for "nothing taken off". */
export function parseComplaints(words: string): readonly Complaint[] {
  if (words === "" || words === "nothing taken off") {
    return [];
  }
  return words.split(", ").map((each) => {
    const [, what = each, points] = /^(.*) -(\d+(?:\.\d+)?)$/.exec(each) ?? [];
    return { what, points: points === undefined ? undefined : Number(points) };
  });
}
