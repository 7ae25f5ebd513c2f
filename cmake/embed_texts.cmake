# cmake -DOUTPUT=... -DTEXTS="name=file name=file" -P: writes a source file with the texts of files as
# lockstep::embedded::name.
string(REPLACE " " ";" entries "${TEXTS}")
set(source "")
foreach(entry ${entries})
  string(REPLACE "=" ";" parts "${entry}")
  list(GET parts 0 name)
  list(GET parts 1 file)
  file(READ "${file}" text)
  string(APPEND source "extern const char* const ${name};\nconst char* const ${name} = R\"embedded(${text})embedded\";\n")
endforeach()
file(WRITE ${OUTPUT} "namespace lockstep::embedded {\n${source}}  // namespace lockstep::embedded\n")
