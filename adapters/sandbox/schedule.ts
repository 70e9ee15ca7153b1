import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

/** Something that happens again and again in a sandbox, in scenes. */
export interface Story {
  /** Time until it begins first. */
  readonly firstMs: number;
  /** Time from one beginning to the next. */
  readonly everyMs: number;
  /** By how much each later beginning may deviate, in both directions; 0 by default. */
  readonly jitterMs?: number;
  /** Returns the scenes, in order, with the time of each since the beginning. */
  readonly scenes: (random: Random) => readonly Scene[];
}

export interface Scene {
  readonly atMs: number;
  /** Must not fail. */
  readonly run: () => void;
}

export interface ScheduleOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly stories: readonly Story[];
}

/** Runs stories until it is closed. When and what happens depends only on the seed and on the clock. */
export function startSchedule({ clock, random, stories }: ScheduleOptions): { close(): void } {
  const cancels = new Set<() => void>();

  function after(ms: number, run: () => void): void {
    const cancel = clock.setTimer(Math.max(0, ms), () => {
      cancels.delete(cancel);
      run();
    });
    cancels.add(cancel);
  }

  function begin(story: Story, own: Random): void {
    const { everyMs, jitterMs = 0, scenes } = story;
    for (const scene of scenes(own)) {
      after(scene.atMs, scene.run);
    }
    after(everyMs + own.integer(-jitterMs, jitterMs), () => begin(story, own));
  }

  for (const [index, story] of stories.entries()) {
    after(story.firstMs, () => begin(story, random.fork(`story ${index}`)));
  }
  return {
    close() {
      for (const cancel of cancels) {
        cancel();
      }
      cancels.clear();
    },
  };
}
