// The build includes this file before each file of a unity build, where POSBENCH_FILE_ID is another text in each.
// It keeps apart the names that tasks and encodings all define in their unnamed namespaces.
#ifndef POSBENCH_JOINED
#define POSBENCH_JOINED_AS_THEY_ARE(a, b) a##_##b
#define POSBENCH_JOINED(a, b) POSBENCH_JOINED_AS_THEY_ARE(a, b)
#define kInfo POSBENCH_JOINED(kInfo, POSBENCH_FILE_ID)
#define registered POSBENCH_JOINED(registered, POSBENCH_FILE_ID)
#define aliases POSBENCH_JOINED(aliases, POSBENCH_FILE_ID)
#endif
