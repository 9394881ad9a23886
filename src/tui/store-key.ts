/**
 * The key of a stream among several stores: the context before its name, `prod:orders/4711`. Names of contexts have no
 * colon. Of a single store the key is the name.
 */
export function streamKey(context: string | undefined, stream: string): string {
  return context === undefined ? stream : `${context}:${stream}`
}

export interface StreamPlace {
  readonly context: string
  readonly stream: string
}

/** The context and the name in a key of several stores; `undefined` if it has no context. */
export function placeOf(key: string): StreamPlace | undefined {
  const at = key.indexOf(':')
  return at < 0 ? undefined : { context: key.slice(0, at), stream: key.slice(at + 1) }
}

/** The name of a stream in its store. @param store the context, of a row of several stores */
export function nameIn({ stream, store }: { readonly stream: string; readonly store?: string | undefined }): string {
  return store === undefined ? stream : stream.slice(store.length + 1)
}
