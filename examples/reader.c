/* A check of GGUF metadata, and the adapter that puts it before Assay: cc -std=c11 -O2 -o reader reader.c */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned char data[1 << 20], *next; static uint64_t left; /* a file, and what of it is not read yet */

static unsigned char *take(uint64_t size) { /* the next bytes, or NULL */
    return size > left ? NULL : (left -= size, (next += size) - size);
}
static int number(int size, uint64_t *value) { /* little-endian, on any machine */
    const unsigned char *bytes = take(size);
    for (*value = 0; bytes && size--;) *value = *value << 8 | bytes[size];
    return bytes != NULL;
}
static unsigned char *string(uint64_t *length) { return number(8, length) ? take(*length) : NULL; }
static const char *values(uint64_t type, uint64_t count) { /* this and the next say why they refuse, or NULL */
    static const int size[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type > 12 || type == 9) return "a value type that is not read here";
    if (type != 8) return count > left / size[type] || !take(count * size[type]) ? "a number is missing" : NULL;
    for (uint64_t length; count; count--) if (!string(&length)) return "a string is missing";
    return NULL;
}
static const char *pair(void) {
    uint64_t length, type, count; const unsigned char *key = string(&length);
    if (!key || !number(4, &type)) return "a key or its type is missing";
    if (!length || memchr(key, 0, length)) return "a key is empty or has a NUL";
    if (length == 17 && !memcmp(key, "general.alignment", 17))
        return type == 4 && number(4, &count) && count && count % 8 == 0 ? NULL : "a bad alignment";
    if (type != 9) return values(type, 1);
    return number(4, &type) && number(8, &count) ? values(type, count) : "an array is missing";
}
static const char *file(void) {
    uint64_t version, tensors, pairs; const unsigned char *magic = take(4); const char *why = NULL;
    if (!magic || memcmp(magic, "GGUF", 4) || !number(4, &version)) return "another format";
    if (version < 2 || version > 3 || !number(8, &tensors) || !number(8, &pairs)) return "another version";
    while (!why && pairs--) why = pair();
    return tensors > sizeof data ? "more tensors than bytes" : why;
}
int main(void) {
    static char line[9000], path[9000];
    while (fflush(stdout), fgets(line, sizeof line, stdin)) {
        const char *seq = strstr(line, "\"seq\":"), *from = strstr(line, "\"path\""), *why; char *to = path;
        from = from && strchr(from + 6, '"') ? strchr(from + 6, '"') + 1 : "";
        while (*from && *from != '"') from += *from == '\\', *to++ = *from++; /* of JSON's escapes, \" and \\ */
        *to = 0;
        FILE *in = *path ? fopen(path, "rb") : NULL;
        if (!seq) return 1;
        printf("{\"seq\":%.*s,\"result\":", (int)strspn(seq + 6, " 0123456789"), seq + 6);
        if (in) left = fread(next = data, 1, sizeof data, in), fclose(in);
        if (strstr(line, "\"start\"")) puts("\"started\",\"protocol\":1,\"name\":\"example-c\",\"version\":\"1\","
            "\"language\":\"C\",\"homepage\":\"https://example.org\",\"capabilities\":[\"parse\"],\"last_stage\":"
            "\"metadata\",\"omits\":[\"version\",\"byte_order\",\"alignment\",\"data_offset\",\"metadata\",\"tensors\"]}");
        else if (strstr(line, "\"stop\"")) return puts("\"stopped\"}") < 0;
        else if (!in || left == sizeof data) puts("\"skipped\",\"reason\":\"no file, or one of over a megabyte\"}");
        else if ((why = file())) printf("\"rejected\",\"message\":\"%s\"}\n", why);
        else puts("\"accepted\",\"document\":{}}");
    }
}
