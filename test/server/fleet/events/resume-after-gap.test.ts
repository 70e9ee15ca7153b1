import { test } from "tap";
import { cursorFrom } from "../../../../server/events/cursor.ts";
import { resumeAfterGap } from "../../../../server/fleet/events/resume-after-gap.ts";

test("a host is followed from its oldest event if that is a later one of the same numbering", async (t) => {
  const at = (seq: number, epoch = "a") => cursorFrom({ epoch, seq });
  t.equal(resumeAfterGap(at(5), at(9)), at(9));
  t.equal(resumeAfterGap(at(9), at(5)), "", "its store was restored: older events are merged already");
  t.equal(resumeAfterGap(at(5), at(5)), "");
  t.equal(resumeAfterGap(at(5), at(9, "b")), "", "its store was replaced");
  t.equal(resumeAfterGap(at(5), undefined), "");
  t.equal(resumeAfterGap("?", at(9)), "");
  t.equal(resumeAfterGap(at(5), "?"), "");
});
