/** `sig=…` of a SAS, keys of a connection string; also where the text was percent-encoded once more. */
const NAMED = /(\b|%[0-9a-f]{2})(sig|AccountKey|SharedAccessSignature|client_secret|password)(=|%3D)[^&;\s"'\\]+/gi
/** What stands in an `Authorization` header. */
const AUTHORIZATION = /\b(Bearer|SharedKey(?:Lite)?)\s+[^\s"'\\]+/gi
/** `https://user:password@host` */
const USER_INFO = /:\/\/[^/?#\s"'\\@]+@/g

/** The text without what signs requests: messages of an SDK carry addresses. */
export function withoutSecrets(text: string): string {
  return text.replace(NAMED, '$1$2$3…').replace(AUTHORIZATION, '$1 …').replace(USER_INFO, '://…@')
}
