/** Source of all events on the event bus, which permissions and rules contain. */
export const busSource = 'watchpost';
