/**
 * Short notes on everyday subjects, each with a question that avoids its words. `title: passage ? question`. Written for this
 * benchmark.
 */
export const notes = `
Garden: Tomatoes want six hours of sun and a thorough soaking twice a week rather than a little each day. Pinch out the shoots that grow in the leaf axils. ? How often should I water the plants I grow for salad and sauce?
Garden: Lime the lawn in autumn when moss spreads, because moss likes sour ground. Rake it out two weeks later. ? What helps against green cushions creeping into the grass?
Garden: Prune roses in March when the forsythia flowers, just above an outward facing bud. ? When is the right time to cut back my thorny shrubs?
Kitchen: If a sauce has split, whisk a spoonful of it into a fresh egg yolk and add the rest drop by drop. ? My mayonnaise curdled, can it be rescued?
Kitchen: Blunt knives slip and cause more injuries than sharp ones. Hone the edge weekly on a steel and have it ground once a year. ? How do I keep blades safe to work with?
Kitchen: Cast iron must not go into the dishwasher. Wipe it while warm, and rub in a thin film of oil. ? What is the proper way to clean a heavy black skillet?
Kitchen: Dried beans cook faster when they were left in salted water overnight. Throw the first water away. ? Is there a trick to shorten the time on the stove for pulses?
Health: A nosebleed usually stops within ten minutes if you lean forward and squeeze the soft part. Do not tilt the head back. ? What should I do when blood runs out of my nostril?
Health: Adults need between seven and nine hours of sleep. Bright screens late in the evening delay it. ? How long ought a grown person to rest at night?
Health: Burns are cooled under running lukewarm water for twenty minutes. Butter and ice make the damage worse. ? My child touched the hot oven door, how do I treat the hand?
Health: The flu vaccine protects from about two weeks after the jab. It has to be renewed each autumn. ? How soon am I safe once I have been inoculated against influenza?
Travel: Liquids in hand luggage may be up to 100 millilitres per bottle, all in one transparent bag of one litre. ? Can I take my shampoo into the aeroplane cabin?
Travel: Passengers whose train arrives an hour late get a quarter of the fare back, and half of it after two hours. ? Do I get compensation when the railway makes me miss my appointment?
Travel: Hire cars are handed over with a full tank and have to be returned with one. Otherwise a service fee of 30 euros is charged besides the petrol. ? Must I refuel the rental before I bring it back?
Travel: Dogs need a chip, a passport and a rabies jab that is at least 21 days old to cross the border. ? What papers does my pet require for a holiday abroad?
Home: Condensation on window panes in the morning means that the bedroom is aired too little. Open the window wide for five minutes rather than leaving it ajar. ? Why is the glass wet when I get up?
Home: A dripping tap wastes five thousand litres a year. Most of the time only the washer is worn. ? How do I repair a leaking faucet?
Home: Smoke alarms hang in every bedroom and in the hall. Press the test button once a month and replace the battery every other year. ? What maintenance do fire detectors need?
Home: Paint on a wall needs a day to dry before a second coat. Tape is pulled off while it is still moist. ? How long between two layers when I redecorate the room?
Home: Limescale in the kettle dissolves in vinegar diluted with water. Boil it up and leave it for half an hour. ? How do I get rid of the white crust where I heat water for tea?
Home: Do not drill above or below sockets: the cables run there vertically. ? Where in the wall is it dangerous to make holes for a shelf?
Money: An emergency fund should cover three months of spending. Keep it in an account that can be reached at once. ? How large should my savings for a rainy day be?
Money: The standing order for the rent can be changed until noon of the bank day before it is carried out. ? Until when may I alter the monthly payment to my landlord?
Money: Anyone who loses a bank card should have it blocked by phone at once. Until then the owner is liable for up to 50 euros. ? My wallet was stolen, who pays for what the thief spends?
Money: Interest on a fixed deposit is paid at the end of the term. Taking the sum out earlier forfeits it. ? What happens if I need my locked-away savings ahead of schedule?
Work: Overtime is balanced by time off within three months. Only if that is impossible is it paid out. ? Do I get money for staying longer at the office?
Work: New colleagues get a mentor for their first hundred days. They meet every other week for half an hour. ? Who looks after people who have just joined?
Work: Minutes of a meeting are sent to everyone within two days and count as accepted if nobody objects within a week. ? By what time do I have to complain about a wrong record of what we decided?
Work: Anyone who falls ill tells the team before nine. A doctor's note is needed from the third day. ? When must I hand in a certificate that I am sick?
Work: Working from home is possible on up to three days a week, agreed with the team. Core time from ten to three still applies. ? How many days may I stay away from the office and use my laptop elsewhere?
Work: Expenses below 25 euros need no receipt, only a short reason in the form. ? I lost the bill for a coffee with a client, can I still claim it?
Work: Visitors sign in at the desk and wear a badge. They are fetched by whoever invited them and never walk around alone. ? May my guest go to the meeting room unaccompanied?
School: Pupils who miss an exam with an excuse sit it again on the second Saturday of the next month. ? My daughter had a fever on the day of her test, when can she catch up?
School: Library books may be renewed twice online, unless somebody has reserved them. ? Can I keep a novel longer than the loan period?
School: The school bus leaves five minutes after the last bell. Those who miss it are supervised until five o'clock. ? What happens to a kid who does not make it to the coach home?
School: Calculators are allowed from year seven on, except in the first part of the final paper. ? Is my son permitted to use a machine for sums?
Computer: A forgotten password is reset through the link on the sign-in page. It is valid for one hour and works once. ? I cannot log in any more, how do I get back into my account?
Computer: Back up photos in three copies, on two kinds of media, one of them away from home. ? How do I make sure that I never lose my holiday pictures?
Computer: A laptop battery lasts longest if it is kept between 20 and 80 per cent and does not get hot. ? How should I charge my notebook to make it live long?
Computer: If the screen stays black although the fan turns, connect another monitor. If that shows a picture the panel is broken. ? The display of my machine remains dark, what should I try?
Computer: Never open attachments you did not expect, even from people you know. Ask the sender by phone first. ? A strange file came by mail from my friend, is it safe?
Computer: Private browsing hides the history from others who use the same device, not from the network or the pages that are visited. ? Does incognito mode stop my provider from seeing what I read?
Nature: Hedgehogs below 500 grams in November will not survive the winter on their own. Weigh them before taking them to a station. ? I found a small spiny animal late in the year, does it need help?
Nature: Swifts sleep, eat and mate on the wing and touch the ground only to breed. ? Which birds hardly ever land?
Nature: Oaks bear acorns in plenty every five to seven years, which foresters call a mast year. ? Why is the forest floor covered with nuts in some autumns and bare in others?
Nature: Bees tell each other where to find nectar by a dance whose angle points to the place relative to the sun. ? How do insects in a hive share the location of flowers?
Nature: Ticks sit in tall grass rather than on trees. Long trousers tucked into socks keep most of them off. ? How can I protect myself from little bloodsuckers on a hike?
Nature: A salmon returns to the river where it hatched, guided by its smell. ? How does a fish find the way back to its birthplace?
Science: Water is densest at four degrees, which is why lakes freeze from the top and fish survive below. ? Why does ice form on the surface of a pond and not at the bottom?
Science: The sky looks blue since air scatters short waves of light more than long ones. At dusk the path is longer and red is left. ? What explains the colours of a sunset?
Science: Sound travels about a kilometre in three seconds, so count after the flash and divide by three. ? How can I tell the distance of a thunderstorm?
Science: A leap day is left out in years that can be divided by a hundred but not by four hundred. ? Why did 1900 have no 29 February?
Science: Glass is made from sand, soda and lime melted at about 1,500 degrees. ? What are windows produced from?
Science: Vaccines show the immune system a harmless part of a germ, so that it recognises the real one later. ? How does an injection teach the body to fight a disease?
History: The printing press with movable type spread from Mainz in the 1450s and made books cheap. ? Which invention put reading matter within everybody's reach?
History: Coffee houses in London doubled as post offices and exchanges; insurance began in one of them. ? Where did merchants of the seventeenth century do business over hot drinks?
History: Roman concrete hardened under sea water thanks to volcanic ash, and harbours built with it still stand. ? Why have ancient piers lasted so long?
History: The bicycle changed villages: people married partners from farther away. ? What effect did cheap personal transport have on where folks found a spouse?
History: Standard time was introduced because railways could not run by the clock of every town. ? Why do all places in a country share the same hour?
Music: A piano is tuned twice a year, after the heating has been switched on and off, because wood moves with moisture. ? How frequently does the instrument with 88 keys need a technician?
Music: Strings of a guitar sound dull after about a hundred hours of playing. Change them one at a time. ? When do the wires on my instrument have to be renewed?
Music: Beginners practise ten minutes a day with more success than an hour at the weekend. ? Is it better to rehearse briefly and often?
Sport: Warm up for ten minutes before running, and stretch afterwards rather than before. ? In which order do I prepare my muscles for a jog?
Sport: In badminton the shuttle must pass over the net below the waist of the server. ? What makes an opening stroke illegal in the game with feathers?
Sport: A helmet is replaced after every fall, even without a visible crack. ? I crashed my bike, can I go on using my head protection?
Sport: Climbers check each other's knot and belt before every start, however experienced they are. ? What does the safety routine of partners on a rope look like?
Law: A contract made at the door can be withdrawn from within fourteen days without a reason. ? I bought a vacuum cleaner from a salesman who rang, can I change my mind?
Law: Neighbours may cut overhanging branches only after they have set a deadline that passed without effect. ? The tree next door reaches over my fence, may I saw it off?
Law: A will written by hand from the first to the last word needs no witnesses; a typed one does. ? How can I make my testament valid without a notary?
Law: The finder of something worth more than ten euros has to report it and gets five per cent if the owner turns up. ? I picked up a purse in the street, what am I owed?
Law: Photos of people in public may be taken, but not published without their consent unless they are mere background. ? Can I put a picture of a stranger on the internet?
Car: Tyres with less than four millimetres of tread should be changed before winter, although the law asks for 1.6. ? How deep must the profile of my wheels be for snow?
Car: If the oil lamp lights up while driving, stop at once and switch off the engine. Going on ruins it within minutes. ? A red can symbol appears on the dashboard, may I drive to the garage?
Car: An electric car loses about a fifth of its range in frost. Heat it while it is still plugged in. ? Why does my battery vehicle not get as far in January?
Car: After a jump start drive for at least half an hour so that the battery is charged again. ? A friend helped me to get the engine running with a cable, what now?
Baby: Infants are laid on their back to sleep, in a sleeping bag and without pillow. ? In what position should a newborn spend the night?
Baby: Solid food starts between the fifth and the seventh month, when the child can sit with help and grasps for the spoon. ? At what age can my little one try mashed carrots?
Baby: Milk that was warmed once is thrown away after an hour, because germs multiply in it. ? Can I give the leftover bottle again in the afternoon?
Cleaning: Red wine on a carpet is dabbed, never rubbed, with sparkling water, and covered with salt. ? How do I remove a spill of merlot from the rug?
Cleaning: Wool is washed at 30 degrees with little spin and dried lying flat. ? How do I keep my jumper from shrinking in the machine?
Cleaning: Rubber gloves and open windows are a must with drain cleaner. It must never meet other cleaners. ? What precautions apply when I unblock the sink with chemicals?
Cleaning: Silver that has turned black becomes bright again in hot water with salt and a strip of foil. ? How can tarnished cutlery be made shiny?
Photo: Portraits look best with the window at the side and the face turned towards it. Flash from the front flattens. ? How should I light a person's face indoors?
Photo: A tripod is needed for exposures longer than about one divided by the focal length. ? From what shutter speed do my hands blur the picture?
Energy: A fridge is set to seven degrees; each degree less costs six per cent more electricity. ? What temperature saves power when I store food?
Energy: Radiators that gurgle and stay cold at the top have to be bled with a key until water comes. ? The heating makes noises and does not get warm, what can I do?
Energy: Solar panels yield most facing south with a tilt of thirty degrees, but east and west together fit the day better. ? Which way should modules on my roof point?
Energy: Standby devices take up to a tenth of the electricity of a household. A strip with a switch ends that. ? Is it worth pulling the plug of the television overnight?
Bread: Sourdough is fed with flour and water twelve hours before baking. If it floats in water it is ripe. ? How do I know that my starter can be used?
Bread: A crust turns crisp if steam fills the oven for the first ten minutes and is then let out. ? How do bakers get a crunchy outside?
Wine: Sparkling wine is kept upright, still wine with a cork lies down. ? How do I store champagne?
Tea: Green tea turns bitter with boiling water. Wait until it has cooled to seventy degrees. ? Why does my sencha taste harsh?
Pets: Cats drink more if the bowl stands away from the food. ? My kitten takes in too little fluid, what helps?
Pets: Guinea pigs need company: one kept alone becomes dull and ill. ? Is it all right to have a single small rodent?
Pets: Chocolate is poisonous for dogs; twenty grams of the dark kind can harm a small one. ? My puppy ate a bar of sweets, is that dangerous?
Sea: The tide turns about every six hours, and the water comes faster than one walks across the flats. ? How long do I have before the beach is flooded?
Sea: A rip current is left sideways, along the beach, and never by swimming against it. ? The sea pulls me out, in which direction do I swim?
Sea: Knots measure the speed of a ship; one is 1.852 kilometres an hour. ? What unit do sailors use for how fast they go?
Mountain: Above 2,500 metres climb no more than 500 metres a day, and sleep lower than the highest point. ? How do I prevent sickness from altitude?
Mountain: Six signals a minute, by light or by whistle, and a minute's pause, mean distress. ? How do I call for rescue without a phone in the Alps?
Mountain: In a storm get off ridges and crouch with the feet together, away from single trees. ? Where am I safest when lightning strikes on a walk?
Letters: A registered letter is kept at the post office for seven days if nobody was at home. ? How long can I pick up a parcel that needs a signature?
Letters: Stamps with the old price stay valid; only the difference has to be added. ? Can I still use postage from before the increase?
Office: Paper jams mostly come from damp paper. Fan the stack, and keep it in its wrapping. ? Why does the printer keep choking?
Office: A chair is at the right height when thighs are level and feet rest flat on the floor. ? How do I set up my seat at the desk?
Office: The emergency exit on the second floor leads to the courtyard. Assemble there by the bicycle stand. ? Where do we gather when the building burns?
Event: Tickets may be handed on to others until the day before; the name is changed online. ? I fell ill, can my sister go to the concert in my place?
Event: Doors open an hour before the show. Bags larger than a sheet of paper stay in the cloakroom. ? How early can I get into the hall?
Event: In case of rain the performance takes place in the sports hall, and the decision is announced at four. ? What happens to the open-air play if the weather is bad?
`;
