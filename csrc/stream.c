/* Streaming: non-temporal stores, and write-combined memory, need whole lines. */
#include <string.h>

#include "internal.h"

void scatter_stream_lines(scatter_stream *s, const char *from, int64_t bytes) {
    if (s->skew && bytes >= CACHE_LINE) { /* the first line also has bytes that are not to be written */
        memcpy(s->line + s->skew, from + s->skew, (size_t)(CACHE_LINE - s->skew));
        from += CACHE_LINE, s->line += CACHE_LINE, bytes -= CACHE_LINE, s->skew = 0;
    }
    if (!s->skew) {
        int64_t whole = bytes / CACHE_LINE * CACHE_LINE;
        s->isa->stream(s->line, from, whole);
        s->line += whole, from += whole, bytes -= whole;
    }
    /* The bytes before the skew must not be read either. */
    if (from != s->stage && bytes > s->skew) memcpy(s->stage + s->skew, from + s->skew, (size_t)(bytes - s->skew));
    s->held = bytes;
}

void scatter_stream_end(scatter_stream *s) {
    if (s->held > s->skew) memcpy(s->line + s->skew, s->stage + s->skew, (size_t)(s->held - s->skew));
}
