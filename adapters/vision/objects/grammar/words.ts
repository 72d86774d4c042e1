/** Words of the grammar besides nouns of objects, in lower case. Words of no list are not understood. */

/** Words without a meaning of their own. */
export const fillers = words(`
  there here it they he she them this that these those who which is are was were be been being am has have had having do does did
  can could will now currently suddenly again still also just right ever really actually already
  then so too please yet today live both either anywhere somewhere visible seen see sees shown shows show detected recognized recognised
  spotted found find present presence detection exists exist existing appears appear appeared appearing comes come coming came arrives arrive
  arrived arriving enters enter entered entering stands stand standing stood waits wait waiting waited stays stay staying remains remain
  remaining parked parks located placed showing turns nearby inside outside indoors outdoors upstairs downstairs whose_is up in back
`);

/** Verbs of movement, which mean "comes into the picture" before one of the directions, and are not understood otherwise. */
export const movementVerbs = words(`
  walks walk walking walked steps step stepping stepped drives drive driving drove rolls rolling rides ride riding rode flies fly flying flew
  goes go going went passes pass passing passed pulls pull pulling pulled runs run running ran swims swim swimming swam sails sail sailing
  approaches approach approaching approached crosses cross crossing crossed reaches reach reached gets get getting
`);
/** Verbs of movement that end in a collision before "into" and an object. */
export const fastVerbs = words(
  'drives drive driving drove rolls rolling rides ride riding rode flies fly flying flew runs run running ran',
);
/** Verbs of movement that a place follows without a preposition. */
export const reachingVerbs = words(`
  enters enter entered entering approaches approach approaching approached crosses cross crossing crossed reaches reach reached passes
  passing passed has_left have_left
`);
/** Verbs of movement that are understood without a place. */
export const arrivingVerbs = words('approaches approach approaching approached passes passing passed');
export const directions = words(`
  in into past by through across along toward towards to onto up over around inside near nearby here closer
`);

/** Prepositions of places. A place is never a requirement: it is named as not judged. */
export const prepositions = words(`
  in_front_of next_to on_top_of close_to on in at near by behind beside inside outside under underneath below above over
  between from to into onto through toward towards past along across around against opposite within of beneath among amid inside_of
  outside_of up down to_the_left_of to_the_right_of left_of right_of ahead_of at_the_foot_of
`);
/** Prepositions that may end a clause: "a person comes in". */
export const adverbialPrepositions = words(
  'in by up past over around through along inside outside near across',
);

export const determiners = words(`
  a an any some the this that these those my our your his her their its one another_of one_of any_of some_of at_least_one
`);

/** Words for places, and adjectives of places. */
export const placeWords = words(`
  door doors doorway doorstep doormat gate gates entrance exit entry yard backyard garden gardens house home building garage driveway drive
  road street sidewalk pavement path pathway track tracks lane lanes park parking lot space spot area zone room rooms bedroom bathroom kitchen
  living hall hallway corridor lobby office shop store supermarket aisle aisles shelf shelves counter checkout desk desks reception floor ground stairs staircase
  stairway steps step ladder window windows wall fence roof balcony terrace porch patio deck lawn grass field fields meadow forest woods tree trees
  bush bushes beach sea water lake river pool swimming shore pier dock harbor harbour port marina bridge crosswalk crossing zebra_crossing intersection
  junction roundabout highway motorway station stop platform airport runway terminal warehouse factory hangar shed barn stable farm kennel cage pen
  nest feeder bowl playground school classroom church hospital ward hotel restaurant cafe bar kiosk market square plaza mall stadium pitch court gym
  stage screen picture image frame video scene view camera cameras feed foreground background middle center centre corner edge side left right
  top bottom front rear back half part sight town city village country site construction plant_room line machine machines conveyor belt
  lift elevator escalator cabin cab trunk vehicle_bay bay box boxes container containers loading unloading dock_door mailbox letterbox post
  pole sign barrier turnstile till register vending atm bank table_top worktop stove cupboard closet cellar basement attic loft stairwell tunnel
  sky air snow sand mud rain sun shade shadow light dark darkness public private main front_door back_door outer inner upper lower north south east west
  other far restricted forbidden dangerous safe work working production storage waiting dining laundry
  conference meeting server control engine hotel_lobby neighbor neighbour neighbors neighbours door_step bed bedside cot crib
  world street_corner bus_stop place premises property grounds compound perimeter walkway footpath bicycle_path cycle charger charging pump gas petrol fuel
  car_park plot estate court_yard courtyard alley
`);

/** Nouns after "in a" and "on the" that are states of a person or times, not places. */
export const stateWords = words(`
  fight danger hurry panic uniform mask helmet hivis vest jacket jackets shirt coat hat cap hood hoodie suit dress trousers pants jeans shoes gloves glasses
  costume gear need pain attack fire flames smoke conflict conversation trouble way row circle group handcuffs wheelchair distress phone call crutches
  knees knee feet bike_lane_use drugs leash duty break strike guard alert motion movement rage tears love line_of_fire purpose time
  morning afternoon evening weekend week weeks month months year years minute minutes hour hours second seconds day days meantime
`);

/** Objects that one rides: "on a bicycle" requires the bicycle, unlike "on a couch". */
export const rideable = words('bicycle motorcycle horse skateboard surfboard skis snowboard');

/** Words of absence. */
export const absences = words(
  'gone absent missing disappears disappear disappeared vanishes vanish vanished has_left have_left away nowhere removed',
);

/** Words for the whole frame, in a clause without an object. */
export const pictureSubjects = words(`
  something anything nothing motion movement activity picture screen image frame video scene view it light lights
  lightson lightsoff darkness everything
`);

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}
