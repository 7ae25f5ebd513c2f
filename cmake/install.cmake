# cmake --install: the program, what it finds by name, its manual and completion, and the analysis package.
# lockstep looks for bin/../share/lockstep/configs (core/parameters/search_path.cpp), so the tree may be moved.
install(TARGETS lockstep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/capture DESTINATION lib/lockstep)  # where `lockstep capture` looks for them
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep)
install(DIRECTORY jobs/analysis/lockstep_analysis DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep/analysis
        FILES_MATCHING PATTERN "*.py" PATTERN "*.json" PATTERN "__pycache__" EXCLUDE)
install(PROGRAMS jobs/analysis/plot_run.py DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep/analysis)
install(FILES jobs/analysis/pyproject.toml DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep/analysis)
install(DIRECTORY jobs/slurm DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep USE_SOURCE_PERMISSIONS)
install(FILES ${CMAKE_BINARY_DIR}/jobs/lockstep.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/jobs/lockstep.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME lockstep)
