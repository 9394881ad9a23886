import { InvalidValue } from './errors.ts'

/** A token of RFC 9110, 5.6.2, and a parameter of 5.6.6 without control characters. */
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+"
const MEDIA_TYPE = new RegExp(
  String.raw`^${TOKEN}/${TOKEN}(?: *; *${TOKEN}=(?:${TOKEN}|"(?:[^"\\\u0000-\u001f\u007f-\uffff]|\\[\u0020-\u007e])*"))*$`,
)
const MEDIA_TYPE_LENGTH = 200

/** @returns the media type as given. @throws InvalidValue */
export function checkMediaType(type: string): string {
  if (type.length <= MEDIA_TYPE_LENGTH && MEDIA_TYPE.test(type)) return type
  throw new InvalidValue(`${JSON.stringify(type.slice(0, 60))} is not a media type`, {
    hint: `Such as text/plain, application/json or "text/csv; charset=utf-8", at most ${MEDIA_TYPE_LENGTH} characters.`,
  })
}
