import { test } from "tap";
import { scoreSentence } from "../../../../dashboard/pages/storage/score-sentence.ts";

test("the reasons of a score are written for people", async (t) => {
  t.equal(
    scoreSentence("flaps=1 -10, crashes=2 -20, slow_operations=12 -12, recovering=3.0% -0.6"),
    "an OSD went down once (−10), 2 daemon crashes (−20), up to 12 slow operations (−12), up to 3.0 % of the data in recovery (−0.6)",
  );
  t.equal(scoreSentence("scrub=17.5d -2.5"), "oldest scrub 17.5 days ago (−2.5)");
  t.equal(scoreSentence("OSD_DOWN -15, RECENT_CRASH -5"), "OSD_DOWN (−15), RECENT_CRASH (−5)");
  t.equal(
    scoreSentence("pool/images min_size=2 stops at one loss -5"),
    "pool/images min_size 2 stops at one loss (−5)",
  );
  t.equal(scoreSentence("3 of 3 ready"), "3 of 3 ready");
});
