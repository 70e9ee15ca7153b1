# Reads tap's output. For each failed assertion it prints a line "FILE > TEST > ASSERTION" and the first lines of its diagnosis
# (-v diagnosisLines=15). For a file that failed outside of any assertion it prints the error, the signal, or "timed out".

function depthOf(line) {
  match(line, /[^ ]/)
  return int((RSTART - 1) / 4)
}

/^ *# Subtest: / {
  name[depthOf($0)] = substr($0, index($0, "Subtest: ") + 9)
}

# The last error on the stderr of a test process.
/^[A-Za-z]*Error[: ]/ {
  lastError = $0
}

/^ok / {
  lastError = ""
}

/^ *not ok [0-9]+/ && !/ # (TODO|SKIP)/ {
  depth = depthOf($0)
  linesLeft = 0
  # The tests that contain a failed assertion fail as well; they are not printed again.
  if (!hasFailed[depth]) {
    what = $0
    sub(/^ *not ok [0-9]+( - )?/, "", what)
    sub(/ # time=.*/, "", what)
    path = ""
    for (i = 0; i < depth; i++) {
      path = path name[i] " > "
      hasFailed[i] = 1
    }
    if (what != "timeout!" || depth > 0) {
      print path what (depth > 0 ? "" : " > " (lastError == "" ? "failed" : lastError))
    }
    linesLeft = depth == 0 ? 0 : diagnosisLines
  }
  hasFailed[depth] = 0
  isDiagnosis = 1
  next
}

isDiagnosis && depth == 0 && /^  expired: / {
  print $2 " > timed out"
}

isDiagnosis && depth == 0 && /^  signal: SIG/ {
  print name[0] " > killed by " $2
}

isDiagnosis && linesLeft > 0 && !/^ *(---|\.\.\.)$/ {
  print
  linesLeft--
}

/^ *\.\.\.$/ {
  isDiagnosis = 0
}
