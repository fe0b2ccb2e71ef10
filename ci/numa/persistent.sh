# shellcheck shell=bash
# Partitions in files, with the rights of root: the tests that mount small and read-only file systems are left
# out elsewhere. And files on a file system that cannot reserve blocks. Sourced by ci/numa.sh.

persistent=$(test_binary shmem-rt --test persistent)
files=$(test_binary shmem-core --lib)
guest --nodes dram --add "$persistent" --add "$files" -- "$(inside <<EOG
export TMPDIR=/dev/shm
run mounts $persistent file_system --nocapture --test-threads 1
run files $files pmem::tests::files --nocapture
EOG
)"
succeeds mounts '^test result: ok\. [1-9]' 'a_full_file_system.* ok$' 'a_read_only_file_system.* ok$'
none_skipped mounts
succeeds files '^test result: ok\. [1-9]'
