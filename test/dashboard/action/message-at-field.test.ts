import { test } from "tap";
import { messageAtField } from "../../../dashboard/action/message-at-field.ts";

test("a message beside a field leaves out the field's name, but names the element of a list", async (t) => {
  t.equal(messageAtField("name: may contain only letters", "name"), "may contain only letters");
  t.equal(messageAtField("tags[2]: is too long", "tags"), "tags[2]: is too long");
  t.equal(
    messageAtField("the volume group has no such space", "size_gb"),
    "the volume group has no such space",
  );
});
